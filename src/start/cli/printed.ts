/** What a command prints instead of JSON, and its exit code. */
export class Printed {
  constructor(
    readonly text: string,
    readonly code = 0,
  ) {}
}

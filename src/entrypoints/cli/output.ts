/** Not everything that a command has printed could be written; what it did is done. `hasNoReader`: whoever read it has left. */
export class OutputLostError extends Error {
  readonly hasNoReader: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super(`Not all of the output could be written: ${cause.message}`, { cause });
    this.hasNoReader = cause.code === 'EPIPE';
  }
}

/**
 * Prints, and waits until the text has been handed over: a pipe takes no more than 64 kB before its reader reads. Throws an
 * OutputLostError.
 */
export const print = (text: string, to: 'stdout' | 'stderr' = 'stdout'): Promise<void> =>
  new Promise((resolve, reject) => {
    process[to].write(text, (error) => (error ? reject(new OutputLostError(error)) : resolve()));
  });

/** What a command prints instead of JSON, and its exit code. */
export class Printed {
  constructor(
    readonly text: string,
    readonly code = 0,
  ) {}
}

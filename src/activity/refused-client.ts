/** A live client, how many of its requests were refused in a time, and when the last of what was counted happened. */
export interface RefusedClient {
  id: string;
  name: string;
  refused: number;
  lastAt: Date;
}

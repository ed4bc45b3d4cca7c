/** A live client, the number of its refused requests in a period, and when the last one happened. */
export interface RefusedClient {
  id: string;
  name: string;
  refused: number;
  lastAt: Date;
}

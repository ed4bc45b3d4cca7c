/** A live client that was rate limited, or is close to its limit. */
export interface ClientNearLimit {
  id: string;
  name: string;
  /** Requests refused in the current and the previous hour. */
  refused: number;
  lastAt: Date;
}

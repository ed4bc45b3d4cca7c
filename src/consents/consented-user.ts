/** A user who shares data with a client, and the scopes. */
export interface ConsentedUser {
  id: string;
  email: string;
  name: string;
  scopes: string[];
  /** Milliseconds since 1970. */
  grantedAt: number;
}

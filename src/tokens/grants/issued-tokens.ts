/** The tokens issued to a client. Only here are tokens held in clear text, on their way out. */
export interface IssuedTokens {
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
  scopes: string[];
  /** Absent for client credentials. */
  refreshToken?: string;
}

/** What a grant gives a client; the only place where a token stands in clear, on its way out. */
export interface IssuedTokens {
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
  scopes: string[];
  /** Absent for client credentials. */
  refreshToken?: string;
}

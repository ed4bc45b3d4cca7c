/** The tokens issued to a client. Only here are tokens held in clear text, on their way out. */
export interface IssuedTokens {
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
  scopes: string[];
  /** Absent for client credentials, as are the members below. */
  refreshToken?: string;
  /** Seconds until the refresh token ends if it is not used. */
  refreshExpiresIn?: number;
  /** Seconds until the grant ends: the user then has to authorize the client again. */
  authorizationExpiresIn?: number;
}

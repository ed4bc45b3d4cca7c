/** What some tokens say besides, as they are written in the record: JSON. Ordinary tokens have none. */
export interface TokenAdditions {
  /** The resources that the token is for (RFC 8707); without, it is for everybody. */
  aud?: string[];
  /** When the user logged in, in seconds since 1970, and how (RFC 9470); only if the client asked for it. */
  auth_time?: number;
  acr?: string;
}

const KNOWN = ['aud', 'auth_time', 'acr'];

/** The additions in these bytes; undefined if a later build has written more, which might limit the token in a way unknown to this one. */
export function readAdditions(bytes: Buffer): TokenAdditions | undefined {
  const additions = JSON.parse(bytes.toString('utf8')) as TokenAdditions;
  return Object.keys(additions).every((name) => KNOWN.includes(name)) ? additions : undefined;
}

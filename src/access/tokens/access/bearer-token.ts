/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1); undefined if it is missing or repeated. */
export function bearerTokenOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** Whether an `Authorization` header has the Bearer scheme with any value, well-formed or not. */
export const isBearer = (authorization: string | undefined): authorization is string =>
  authorization !== undefined && /^Bearer +\S/i.test(authorization);

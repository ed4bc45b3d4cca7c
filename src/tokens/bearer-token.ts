/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1); undefined where it is none, or more than one. */
export function bearerTokenOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

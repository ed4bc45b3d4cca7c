const SCHEME_LENGTH = 'Basic'.length;

/** The credentials of a request, from HTTP Basic or the body; a public client sends only its id. */
export interface ClientCredentials {
  clientId: string;
  clientSecret?: string;
}

/** The two halves of HTTP Basic credentials as sent, still form-urlencoded. The password may be empty. */
export interface BasicParts {
  userId: string;
  password: string;
}

/**
 * Parses an HTTP Basic header (RFC 7617 §2). It is split at the first colon, so the password may contain colons. Undefined if it
 * is malformed or has no user id.
 */
export function basicPartsOf(header: string): BasicParts | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(header)?.[1];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const at = text.indexOf(':');
  return at < 1 ? undefined : { userId: text.slice(0, at), password: text.slice(at + 1) };
}

/**
 * A Basic header with these parts, in the form that the Basic strategy reads correctly: it splits at every blank and every colon,
 * so there is one blank, and colons in the password are escaped.
 */
export function basicHeaderOf(header: string, { userId, password }: BasicParts): string {
  if (!password.includes(':') && header.lastIndexOf(' ') === SCHEME_LENGTH) return header;
  return `Basic ${Buffer.from(`${userId}:${password.replaceAll(':', '%3A')}`).toString('base64')}`;
}

/**
 * Decodes the halves of a Basic header: both were form-urlencoded before base64 (RFC 6749 §2.3.1). An empty password counts as
 * none, because libraries send it for public clients. Undefined if the encoding is broken.
 */
export function credentialsOf({ userId, password }: BasicParts): ClientCredentials | undefined {
  try {
    const clientId = formDecoded(userId);
    const clientSecret = formDecoded(password);
    return clientSecret === '' ? { clientId } : { clientId, clientSecret };
  } catch {
    return undefined;
  }
}

const formDecoded = (part: string): string => decodeURIComponent(part.replaceAll('+', ' '));

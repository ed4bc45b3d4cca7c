/** What a request brought to authenticate a client: by HTTP Basic, or in the body; a public client brings its id alone. */
export interface ClientCredentials {
  clientId: string;
  clientSecret?: string;
}

/**
 * Reads an HTTP Basic header (RFC 6749 §2.3.1): both parts were form-urlencoded before base64. Undefined where it is
 * malformed.
 */
export function parseBasicCredentials(header: string): ClientCredentials | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(header)?.[1];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const at = text.indexOf(':');
  if (at < 1) return undefined;
  try {
    const [clientId, clientSecret] = [text.slice(0, at), text.slice(at + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    );
    return clientId && clientSecret ? { clientId, clientSecret } : undefined;
  } catch {
    return undefined;
  }
}

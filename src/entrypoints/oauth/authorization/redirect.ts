/** Adds parameters to a redirect URI and keeps the rest exactly as registered (RFC 6749 §3.1.2). */
export function withParameters(redirectUri: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const query = new URLSearchParams(given).toString();
  const at = redirectUri.indexOf('?');
  if (at < 0) return `${redirectUri}?${query}`;
  const isOpen = at === redirectUri.length - 1 || redirectUri.endsWith('&');
  return isOpen ? redirectUri + query : `${redirectUri}&${query}`;
}

/**
 * Where a form that ends at the redirect URI may lead. A client's web page may redirect further, and Chromium applies our page's policy
 * to that too; an application with its own scheme does not redirect.
 */
export function formTargetOf(redirectUri: string): string {
  const { protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? 'anywhere' : protocol;
}

/** The host that the browser goes to afterwards, in a form that a person can check. */
export function displayHostOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}

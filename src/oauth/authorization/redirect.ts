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

/** The redirect URI as a source of a Content-Security-Policy's `form-action`. */
export function formTargetOf(redirectUri: string): string {
  const { protocol, hostname, origin } = new URL(redirectUri);
  // Private-use schemes have no origin, and the grammar of the policy has no IPv6 addresses: use the scheme instead.
  return (protocol === 'https:' || protocol === 'http:') && !hostname.startsWith('[') ? origin : protocol;
}

/** The host that the browser goes to afterwards, in a form that a person can check. */
export function displayHostOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}

/** Whether a host (as in a URL or a HOST setting) is only reachable from this machine. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare);
}

/**
 * Whether the text is a URL, on its own or relative to a base. `URL.canParse` of Node 20 cannot be used: once compiled, it
 * rejects URLs with non-ASCII letters such as ü.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    return Boolean(new URL(text, base));
  } catch {
    return false;
  }
}

/** Whether the text is the address of a page that people may follow: https, without a login in it. */
export function isHttpsPage(text: string): boolean {
  if (text.length > 2000 || !/^https:\/\/[^\s/?#\\]/i.test(text) || !isUrl(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '' && !/[\s\\\p{C}\p{Default_Ignorable_Code_Point}]/u.test(text);
}

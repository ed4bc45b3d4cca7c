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

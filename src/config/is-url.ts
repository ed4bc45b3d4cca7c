/**
 * Whether the text is a URL, on its own or against a base. `URL.canParse` of Node 20 cannot be used: once it is compiled, it takes
 * addresses with letters such as ü for none.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    return Boolean(new URL(text, base));
  } catch {
    return false;
  }
}

import { Form } from './form.js';

/** What a mail program posts to the address in `List-Unsubscribe` (RFC 8058 §3.2). */
export const ONE_CLICK = { name: 'List-Unsubscribe', value: 'One-Click' } as const;

/** The same in a form in parts, which mail programs should use; other fields of it are left out. */
export const oneClickInParts = (text: string): Form =>
  Form.parse(holdsOneClick(text) ? `${ONE_CLICK.name}=${ONE_CLICK.value}` : '');

/** Line by line: one pattern for the whole text takes quadratic time if the name is repeated. */
function holdsOneClick(text: string): boolean {
  let place: 'elsewhere' | 'in its head' | 'at its value' = 'elsewhere';
  // What is after the last line break is no whole line.
  for (const line of text.split(/\r?\n/).slice(0, -1)) {
    if (place === 'at its value' && /^One-Click$/i.test(line)) return true;
    if (/\bname="?List-Unsubscribe"?$/i.test(line)) place = 'in its head';
    else if (line === '') place = place === 'in its head' ? 'at its value' : 'elsewhere';
    else if (place !== 'in its head') place = 'elsewhere';
  }
  return false;
}

import { Form } from './form.js';

/** What a mail program posts to the address in `List-Unsubscribe` (RFC 8058 §3.2). */
export const ONE_CLICK = { name: 'List-Unsubscribe', value: 'One-Click' } as const;

/** The same in a form in parts, which mail programs should use; other fields of it are left out. */
export const oneClickInParts = (text: string): Form =>
  Form.parse(
    /\bname="?List-Unsubscribe"?\r?\n(?:[^\r\n]+\r?\n)*\r?\nOne-Click\r?\n/i.test(text)
      ? `${ONE_CLICK.name}=${ONE_CLICK.value}`
      : '',
  );

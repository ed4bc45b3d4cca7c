import { IntlMessageFormat } from 'intl-messageformat';
import { messageIn } from './catalog.js';
import type { Language } from './languages.js';

/** The values of a message: numbers, texts, dates. */
export type TextValues = Record<string, string | number | Date>;

// Messages are constants of the code, so their number is bounded.
const compiled = new Map<string, IntlMessageFormat>();

/** A message in a language, ready to be filled in. */
export function compiledMessage(language: Language, english: string): IntlMessageFormat {
  const key = `${language} ${english}`;
  let format = compiled.get(key);
  if (!format) {
    // Days are told in UTC everywhere, because a page without scripts does not know the reader's time zone.
    format = new IntlMessageFormat(messageIn(language, english), language === 'en' ? 'en-GB' : language, {
      date: { long: { dateStyle: 'long', timeZone: 'UTC' } as never },
    });
    compiled.set(key, format);
  }
  return format;
}

/** A message, written in English and ICU's syntax, in the language of a reader. */
export const text = (language: Language, english: string, values?: TextValues): string =>
  String(compiledMessage(language, english).format(values));

/** Marks an English message that is translated where it is shown. */
export const say = <Message extends string>(english: Message): Message => english;

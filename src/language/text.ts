import { IntlMessageFormat } from 'intl-messageformat';
import { isMessage, messageIn } from './catalog.js';
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

/** A message with values that is translated where it is shown. */
export interface Said {
  message: string;
  values: TextValues;
}

/** A message, marked by `say`, with the values that it is shown with. */
export const said = (message: string, values: TextValues): Said => ({ message, values });

/** The English message of what is shown. */
export const messageOf = (shown: string | Said): string =>
  typeof shown === 'string' ? shown : shown.message;

/** What is shown, in the language of a reader: a message is translated; any other text stays as it is. */
export function shownText(language: Language, shown: string | Said): string {
  if (typeof shown !== 'string') return text(language, shown.message, shown.values);
  return isMessage(shown) ? text(language, shown) : shown;
}

/** Marks an English message that is translated where it is shown. */
export const say = <Message extends string>(english: Message): Message => english;

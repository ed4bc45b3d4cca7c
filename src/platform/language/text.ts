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
    // Days are in UTC everywhere, because a page without scripts does not know the reader's time zone.
    format = new IntlMessageFormat(messageIn(language, english), language === 'en' ? 'en-GB' : language, {
      date: {
        // Merged with the library's own formats of this name.
        long: { timeZone: 'UTC' } as never,
        moment: { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as never,
      },
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

/** Marks an English message with the values that it is shown with. */
export const said = (message: string, values: TextValues): Said => ({ message, values });

/** Text to show: messages, one after the other, or any other text. */
export type Shown = string | Said | readonly (string | Said)[];

const listOf = (shown: Shown): readonly (string | Said)[] =>
  typeof shown === 'string' || 'message' in shown ? [shown] : shown;

/** Whether all of it can be translated. */
export const isTranslated = (shown: Shown): boolean =>
  listOf(shown).every((each) => isMessage(typeof each === 'string' ? each : each.message));

/** The text in the language of a reader: messages are translated; other text stays as it is. */
export const shownText = (language: Language, shown: Shown): string =>
  listOf(shown)
    .map((each) => {
      if (typeof each !== 'string') return text(language, each.message, each.values);
      return isMessage(each) ? text(language, each) : each;
    })
    .join(' ');

/** Marks an English message that is translated where it is shown. */
export const say = <Message extends string>(english: Message): Message => english;

import type { Language } from './languages.js';

/** The tag by which `Intl` formats dates and numbers; English is that of Europe. */
const localeOf = (language: Language): string => (language === 'en' ? 'en-GB' : language);

/** Formats dates in the language of a reader, in UTC: without a script, a page cannot know the reader's time zone. */
export function datesBy(options: Intl.DateTimeFormatOptions): (language: Language, at: Date) => string {
  const formats = new Map<Language, Intl.DateTimeFormat>();
  return (language, at) => {
    let format = formats.get(language);
    if (!format) {
      format = new Intl.DateTimeFormat(localeOf(language), { ...options, timeZone: 'UTC' });
      formats.set(language, format);
    }
    return format.format(at);
  };
}

/** A whole number in the language of a reader. */
export const numberIn = (language: Language, number: number): string =>
  number.toLocaleString(localeOf(language));

import type { Language } from './languages.js';
import { UTC } from './time-zones.js';

/** The locale for `Intl`; for English, the European one. */
const localeOf = (language: Language): string => (language === 'en' ? 'en-GB' : language);

/** Formats by language and time zone, of which there are a few hundred. */
function formatsBy(
  options: Intl.DateTimeFormatOptions,
): (language: Language, zone: string) => Intl.DateTimeFormat {
  const formats = new Map<string, Intl.DateTimeFormat>();
  return (language, timeZone) => {
    const key = `${language} ${timeZone}`;
    let format = formats.get(key);
    if (!format) {
      format = new Intl.DateTimeFormat(localeOf(language), { ...options, timeZone });
      formats.set(key, format);
    }
    return format;
  };
}

/** Formats dates in the language of a reader, in UTC or another time zone (`timeZoneOf`). */
export function datesBy(
  options: Intl.DateTimeFormatOptions,
): (language: Language, at: Date, zone?: string) => string {
  const formats = formatsBy(options);
  return (language, at, zone = UTC) => formats(language, zone).format(at);
}

const withZone = formatsBy({ timeZoneName: 'short' });

/** The abbreviation of a time zone at a time, such as CET. */
export const zoneNameAt = (language: Language, at: Date, zone: string): string =>
  withZone(language, zone)
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value ?? zone;

/** A whole number in the language of a reader. */
export const numberIn = (language: Language, number: number): string =>
  number.toLocaleString(localeOf(language));

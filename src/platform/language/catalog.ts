import { readFileSync } from 'node:fs';
import { besideCode } from '#platform/config/package-root.js';
import { LANGUAGES, type Language } from './languages.js';

/** The parts of the service whose words are translated, each with a catalogue for every language. */
export const CATALOG_PARTS = [
  'pages',
  'consent',
  'sign-in',
  'account',
  'mail',
  'notifications',
  'problems',
] as const;

const read = (file: string): [string, string][] =>
  Object.entries(JSON.parse(readFileSync(besideCode(file), 'utf8')) as Record<string, string>);

/** The translations by language, keyed by the English message; English has no catalogue. */
const CATALOGS = new Map<Language, Map<string, string>>(
  LANGUAGES.filter((language) => language !== 'en').map((language) => [
    language,
    new Map(CATALOG_PARTS.flatMap((part) => read(`platform/language/catalogs/${part}.${language}.json`))),
  ]),
);

/** Adds what a feature says, which has its catalogues in its folder. Called where its module is loaded. */
export function addCatalogsOf(feature: string): void {
  for (const [language, catalog] of CATALOGS) {
    for (const [message, translation] of read(`features/${feature}/catalogs/${language}.json`))
      catalog.set(message, translation);
  }
}

/** The message in this language, in ICU's syntax; the English one if it is not translated. */
export const messageIn = (language: Language, english: string): string =>
  CATALOGS.get(language)?.get(english) ?? english;

/** Whether the text is an English message that is translated. */
export const isMessage = (english: string): boolean =>
  [...CATALOGS.values()].every((catalog) => catalog.has(english));

import { LANGUAGES, type Language } from '#platform/language/languages.js';

/** The languages into which a description can be translated. */
export const TRANSLATED = LANGUAGES.filter((language) => language !== 'en');

/** A description in other languages than English. */
export type Translations = Partial<Record<Language, string>>;

/** The languages in an order of their own, as the database stores them in another. */
export const inOrder = (translations: Translations): Translations =>
  Object.fromEntries(
    TRANSLATED.flatMap((language) =>
      translations[language] === undefined ? [] : [[language, translations[language]]],
    ),
  );

/** Those that go with a description from now on: without new ones, those that are there stay, unless they would say something else. */
export const translationsAfter = (
  before: { description: string; translations: Translations },
  { description, translations }: { description: string; translations?: object },
): Translations => {
  if (translations) return inOrder(translations);
  return before.description === description ? inOrder(before.translations) : {};
};

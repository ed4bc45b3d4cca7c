/** The languages of pages, mails and notifications for drivers; the console and the portal are in English. */
export const LANGUAGES = ['en', 'de', 'fr', 'nl', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Languages written from right to left: none yet, but pages and mails would be mirrored. */
export const RIGHT_TO_LEFT = new Set<Language>();

/** The name of each language in that language. */
export const LANGUAGE_NAMES: Record<Language, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  nl: 'Nederlands',
  es: 'Español',
};

/** The English name of each language, for the console. */
export const ENGLISH_NAMES: Record<Language, string> = {
  en: 'English',
  de: 'German',
  fr: 'French',
  nl: 'Dutch',
  es: 'Spanish',
};

export const isLanguage = (text: unknown): text is Language => LANGUAGES.includes(text as Language);

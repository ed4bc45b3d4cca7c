/** The languages of pages, mails and notifications for drivers; the console and the portal are in English. */
export const LANGUAGES = ['en', 'de', 'fr', 'nl', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Those that are written from right to left: none yet, but pages and mails are mirrored for them. */
export const RIGHT_TO_LEFT = new Set<Language>();

/** What each language calls itself. */
export const LANGUAGE_NAMES: Record<Language, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  nl: 'Nederlands',
  es: 'Español',
};

/** What each is called in English, for the console. */
export const ENGLISH_NAMES: Record<Language, string> = {
  en: 'English',
  de: 'German',
  fr: 'French',
  nl: 'Dutch',
  es: 'Spanish',
};

export const isLanguage = (text: unknown): text is Language => LANGUAGES.includes(text as Language);

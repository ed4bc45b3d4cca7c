import Negotiator from 'negotiator';

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

/** The first supported language among the tags; for example `fr` for `fr-CA`. */
const firstLanguageOf = (tags: readonly string[]): Language | undefined =>
  tags.map((tag) => tag.toLowerCase().split('-', 1)[0]).find(isLanguage);

/** The language of a list of tags that are separated by spaces, as in `ui_locales` (OpenID Connect Core §3.1.2.1). */
export const languageOfUiLocales = (uiLocales: string): Language | undefined =>
  firstLanguageOf(uiLocales.split(' '));

/** The preferred language of an `Accept-Language` header; English if none of them is supported. */
export function languageOfHeader(acceptLanguage: string | undefined): Language {
  if (!acceptLanguage) return 'en';
  const wanted = new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages([...LANGUAGES]);
  return firstLanguageOf(wanted) ?? 'en';
}

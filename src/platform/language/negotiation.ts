import Negotiator from 'negotiator';
import { isLanguage, LANGUAGES, type Language } from './languages.js';

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

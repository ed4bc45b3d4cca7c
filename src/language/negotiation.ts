import Negotiator from 'negotiator';
import { isLanguage, LANGUAGES, type Language } from './languages.js';

/** The first of the tags that is, or is a kind of, a language that there is: of `fr-CA` that is `fr`. */
const firstLanguageOf = (tags: readonly string[]): Language | undefined =>
  tags.map((tag) => tag.toLowerCase().split('-', 1)[0]).find(isLanguage);

/** The language of a list of tags that are separated by spaces, as in `ui_locales` (OpenID Connect Core §3.1.2.1). */
export const languageOfUiLocales = (uiLocales: string): Language | undefined =>
  firstLanguageOf(uiLocales.split(' '));

/** The language that an `Accept-Language` header prefers; English if it wants none that there is. */
export function languageOfHeader(acceptLanguage: string | undefined): Language {
  if (!acceptLanguage) return 'en';
  const wanted = new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages([...LANGUAGES]);
  return firstLanguageOf(wanted) ?? 'en';
}

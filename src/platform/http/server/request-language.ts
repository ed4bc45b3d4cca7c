import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  isLanguage,
  type Language,
  languageOfHeader,
  languageOfUiLocales,
} from '#platform/language/languages.js';
import { Form, queryStringOf } from '../forms/form.js';
import { HOST_COOKIES, OUR_COOKIES, type Cookies } from './cookies.js';

declare module 'fastify' {
  interface FastifyRequest {
    language?: Language;
  }
}

const COOKIE = 'language';
const YEAR = 31_536_000;

/** The parameter with which a client, or a link of a page, asks for a language (OpenID Connect Core §3.1.2.1). */
const UI_LOCALES = 'ui_locales';

/** The language requested by the URL; undefined if there is none, or it is not supported. */
function languageAskedFor(request: FastifyRequest): Language | undefined {
  // Most requests do not ask for a language, and need no parsing.
  if (!request.url.includes(UI_LOCALES)) return undefined;
  try {
    return languageOfUiLocales(Form.parse(queryStringOf(request.url)).get(UI_LOCALES) ?? '');
  } catch {
    // A malformed query is refused elsewhere.
    return undefined;
  }
}

/** The earlier choice in this browser. */
function languageChosenBefore({ cookies }: FastifyRequest): Language | undefined {
  // By either name: whether the base URL is https does not matter for reading.
  const chosen = cookies?.[HOST_COOKIES + COOKIE] ?? cookies?.[OUR_COOKIES + COOKIE];
  return isLanguage(chosen) ? chosen : undefined;
}

/**
 * The language of the person behind the request: from the URL, else the earlier choice in this browser, else that of the account
 * (`readAs`), else what the browser prefers.
 */
export function languageOf(request: FastifyRequest): Language {
  request.language ??=
    languageAskedFor(request) ??
    languageChosenBefore(request) ??
    languageOfHeader(request.headers['accept-language']);
  return request.language;
}

/**
 * Continues in the language of the user's account, unless another one was chosen in this browser. Returns a choice that is not
 * stored in the account yet: the one in the URL, or the first one made in this browser. A language requested by a client at the
 * authorization endpoint does not override an earlier choice.
 */
export function readAs(request: FastifyRequest, ofAccount: Language | null): Language | undefined {
  const asked = languageAskedFor(request);
  const before = languageChosenBefore(request);
  request.language = asked ?? before ?? ofAccount ?? undefined;
  const isOfClient = request.url.startsWith('/o/');
  const choice = ofAccount === null ? (asked ?? before) : isOfClient ? undefined : asked;
  return choice === ofAccount ? undefined : choice;
}

/** Stores the language in the URL in the browser, for the following pages. */
export function rememberLanguage(request: FastifyRequest, reply: FastifyReply, cookies: Cookies): void {
  const asked = languageAskedFor(request);
  if (asked) cookies.set(reply, COOKIE, asked, YEAR);
}

/** The language that a program asks for; undefined if it asks for none, so that its responses stay as they were. */
export const languageOfProgram = ({ headers }: FastifyRequest): Language | undefined =>
  headers['accept-language'] === undefined ? undefined : languageOfHeader(headers['accept-language']);

/** The headers of an answer in the language that was asked for; `isWhole`: whether nothing in it stays in English. */
export const inLanguage = (language: Language, isWhole = true): Record<string, string> => ({
  'content-language': isWhole || language === 'en' ? language : `${language}, en`,
  vary: 'accept-language',
});

/** The headers with `Vary` extended by what the response depends on. */
export function withVary(reply: FastifyReply, headers: Record<string, string>): Record<string, string> {
  const before = reply.getHeader('vary');
  if (headers.vary === undefined || before === undefined) return headers;
  return { ...headers, vary: `${String(before)}, ${headers.vary}` };
}

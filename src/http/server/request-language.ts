import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLanguage, type Language } from '../../language/languages.js';
import { languageOfHeader, languageOfUiLocales } from '../../language/negotiation.js';
import { Form, queryStringOf } from '../forms/form.js';
import type { Cookies } from './cookies.js';

declare module 'fastify' {
  interface FastifyRequest {
    language?: Language;
  }
}

const COOKIE = 'language';
const YEAR = 31_536_000;

/** The parameter with which a client, or a link of a page, asks for a language (OpenID Connect Core §3.1.2.1). */
const UI_LOCALES = 'ui_locales';

/** The language that the address of the request asks for; undefined if it asks for none that there is. */
function languageAskedFor(request: FastifyRequest): Language | undefined {
  // Most requests ask for nothing, and need no parsing.
  if (!request.url.includes(UI_LOCALES)) return undefined;
  try {
    return languageOfUiLocales(Form.parse(queryStringOf(request.url)).get(UI_LOCALES) ?? '');
  } catch {
    // A query that cannot be read is refused elsewhere.
    return undefined;
  }
}

/** What was chosen before in this browser. */
function languageChosenBefore({ cookies }: FastifyRequest): Language | undefined {
  // By either name: whether the base URL is https does not matter for reading.
  const chosen = cookies?.[`__Host-${COOKIE}`] ?? cookies?.[COOKIE];
  return isLanguage(chosen) ? chosen : undefined;
}

/**
 * The language of the person behind the request: what the address asks for, then what was chosen before in this browser, then that of the
 * account (`readAs`), then what the browser prefers.
 */
export function languageOf(request: FastifyRequest): Language {
  request.language ??=
    languageAskedFor(request) ??
    languageChosenBefore(request) ??
    languageOfHeader(request.headers['accept-language']);
  return request.language;
}

/**
 * Goes on in the language of the account of the person behind the request, unless another was chosen in this browser. Returns a choice
 * that the account does not know yet: what the address asks for, or the first that was made in this browser. What a client asks for at
 * the authorization endpoint changes no choice that was made.
 */
export function readAs(request: FastifyRequest, ofAccount: Language | null): Language | undefined {
  const asked = languageAskedFor(request);
  const before = languageChosenBefore(request);
  request.language = asked ?? before ?? ofAccount ?? undefined;
  const isOfClient = request.url.startsWith('/o/');
  const choice = ofAccount === null ? (asked ?? before) : isOfClient ? undefined : asked;
  return choice === ofAccount ? undefined : choice;
}

/** Remembers in the browser the language that the address asks for, so that the pages that follow have it. */
export function rememberLanguage(request: FastifyRequest, reply: FastifyReply, cookies: Cookies): void {
  const asked = languageAskedFor(request);
  if (asked) cookies.set(reply, COOKIE, asked, YEAR);
}

/** The language that a program asks for; undefined if it asks for none, so that it gets what it always got. */
export const languageOfProgram = ({ headers }: FastifyRequest): Language | undefined =>
  headers['accept-language'] === undefined ? undefined : languageOfHeader(headers['accept-language']);

/** The headers of an answer in the language that was asked for; `isWhole`: whether nothing in it stays in English. */
export const inLanguage = (language: Language, isWhole = true): Record<string, string> => ({
  'content-language': isWhole || language === 'en' ? language : `${language}, en`,
  vary: 'accept-language',
});

/** The headers with what else the answer depends on. */
export function withVary(reply: FastifyReply, headers: Record<string, string>): Record<string, string> {
  const before = reply.getHeader('vary');
  if (headers.vary === undefined || before === undefined) return headers;
  return { ...headers, vary: `${String(before)}, ${headers.vary}` };
}

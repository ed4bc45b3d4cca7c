import { validationFailed } from '#platform/http/problems/problem.js';
import { violation, type Violation } from '#platform/http/problems/violation.js';

/** Contract §22: the endpoint's own headers, which its attempts carry. */
const HEADERS_MAX = 10;
const NAME_MAX = 64;
const VALUE_MAX = 512;

/** Names in lower case, with their values. */
export type EndpointHeaders = Record<string, string>;

/** The same as a change: null keeps the current value. */
export type HeaderChanges = Record<string, string | null>;

/** Shown instead of a value. It cannot be a value, so a form that sends it back keeps the present one. */
export const HEADER_MASK = '••••••••';

/** The hint at the form field. */
export const HEADERS_HINT = `Up to ${HEADERS_MAX}, one per line, such as “x-tenant: my-company”. A masked value stays as it is.`;

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII, with spaces only in between. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** The headers that HTTP uses for the message or the connection, and those of a delivery (contract §10). */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'date',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);
const RESERVED_PREFIX = /^(?:content|proxy|sec|webhook)-/;

/** What is wrong with the headers, for the member `headers`; empty if nothing is. A value is never repeated. */
export function headerViolations(headers: HeaderChanges): Violation[] {
  const names = Object.keys(headers);
  const lower = names.map((name) => name.toLowerCase());
  return [
    ...(names.length > HEADERS_MAX ? [violation('too_many_headers', { max: HEADERS_MAX })] : []),
    ...(new Set(lower).size < lower.length ? [violation('repeated_header')] : []),
    ...Object.entries(headers).flatMap(([name, value], index) => violationOf(name, value, index + 1) ?? []),
  ].slice(0, HEADERS_MAX);
}

function violationOf(name: string, value: string | null, place: number): Violation | undefined {
  if (!TOKEN.test(name) || name.length > NAME_MAX) {
    return violation('header_name', { place, max: NAME_MAX });
  }
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || RESERVED_PREFIX.test(lower))
    return violation('reserved_header', { name: lower });
  if (value !== null && (typeof value !== 'string' || value.length > VALUE_MAX || !VALUE.test(value))) {
    return violation('header_value', { name: lower, max: VALUE_MAX });
  }
  return undefined;
}

/**
 * Headers as lines (`name: value`), as they are typed into a form; a masked value keeps the present one. Throws a 400 problem for lines
 * that are not headers.
 */
export function headersInLines(text: string): HeaderChanges {
  const headers: HeaderChanges = {};
  const odd: Violation[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf(':');
    const name = line.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const value = line.slice(at + 1).trim();
    if (at < 0) odd.push(violation('header_line', { line: index + 1 }));
    else if (Object.hasOwn(headers, name)) odd.push(violation('repeated_header'));
    else
      Object.defineProperty(headers, name, { value: value === HEADER_MASK ? null : value, enumerable: true });
  }
  const violations = odd.length > 0 ? odd : headerViolations(headers);
  if (violations.length > 0) throw validationFailed({ headers: violations });
  return headers;
}

/** The lines with their values masked, or with the values. */
export const linesOf = (names: readonly string[], values: EndpointHeaders = {}): string =>
  names.map((name) => `${name}: ${Object.hasOwn(values, name) ? values[name] : HEADER_MASK}`).join('\n');

/** A limit as typed: only digits are a number. */
export const limitIn = (typed: string): number => (/^\d{1,9}$/.test(typed) ? Number(typed) : Number.NaN);

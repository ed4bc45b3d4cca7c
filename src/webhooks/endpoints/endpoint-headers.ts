/** Contract §22: the headers of its own that an endpoint's attempts carry. */
export const HEADERS_MAX = 10;
const NAME_MAX = 64;
const VALUE_MAX = 512;

/** Names in lower case, with their values. */
export type EndpointHeaders = Record<string, string>;

/** The same as a change: null keeps the value that the header has. */
export type HeaderChanges = Record<string, string | null>;

/** Shown in place of a value. It is no value itself, so a form that sends it back means the present one. */
export const HEADER_MASK = '••••••••';

/** Beside the field for them. */
export const HEADERS_HINT = `Up to ${HEADERS_MAX}, one per line, such as “x-tenant: northwind”. A masked value stays as it is.`;

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII, with single spaces or more between. */
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
export function headerErrors(headers: HeaderChanges): string[] {
  const names = Object.keys(headers);
  const lower = names.map((name) => name.toLowerCase());
  return [
    ...(names.length > HEADERS_MAX ? [`must have at most ${HEADERS_MAX} headers`] : []),
    ...(new Set(lower).size < lower.length ? ['must name each header once'] : []),
    ...Object.entries(headers).flatMap(([name, value], index) => errorOf(name, value, index + 1) ?? []),
  ].slice(0, HEADERS_MAX);
}

function errorOf(name: string, value: string | null, place: number): string | undefined {
  if (!TOKEN.test(name) || name.length > NAME_MAX) {
    return `header ${place} must have a name of 1 to ${NAME_MAX} letters, digits and characters such as “-”`;
  }
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || RESERVED_PREFIX.test(lower))
    return `${lower} cannot be used: requests have it already`;
  if (value !== null && (typeof value !== 'string' || value.length > VALUE_MAX || !VALUE.test(value))) {
    return `the value of ${lower} must be 1 to ${VALUE_MAX} visible ASCII characters, with spaces only between them`;
  }
  return undefined;
}

/** Headers as lines (`name: value`), as they are typed into a form; a masked value keeps the present one. */
export function headersInLines(text: string): { headers: HeaderChanges; errors: string[] } {
  const headers: HeaderChanges = {};
  const errors: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf(':');
    const name = line.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const value = line.slice(at + 1).trim();
    if (at < 0) errors.push(`line ${index + 1} must be a name, a colon and a value`);
    else if (Object.hasOwn(headers, name)) errors.push('must name each header once');
    else
      Object.defineProperty(headers, name, { value: value === HEADER_MASK ? null : value, enumerable: true });
  }
  return { headers, errors: errors.length > 0 ? [...new Set(errors)] : headerErrors(headers) };
}

/** The lines with their values masked, or with the values. */
export const linesOf = (names: readonly string[], values: EndpointHeaders = {}): string =>
  names.map((name) => `${name}: ${Object.hasOwn(values, name) ? values[name] : HEADER_MASK}`).join('\n');

/** A limit as typed: no other text than digits is a number. */
export const limitIn = (typed: string): number => (/^\d{1,9}$/.test(typed) ? Number(typed) : Number.NaN);

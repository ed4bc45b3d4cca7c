import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderLine } from './http-outcome.js';

/** Contract §10: the part of a response body that is read. */
export const BODY_LIMIT_BYTES = 16 * 1024;
/** Contract §10: the longest Retry-After that is honoured. */
const RETRY_AFTER_LIMIT_MS = 24 * 60 * 60 * 1000;

/** Contract §22: how many headers of a response are kept, and how long they may be together. */
const HEADERS_KEPT = 32;
const HEADER_BYTES_KEPT = 8 * 1024;
/** May hold a session of the receiver's. */
const NOT_KEPT = 'set-cookie';

/** The first headers of a response, without its cookies; one that no longer fits ends the list. */
export function keptHeaders(headers: IncomingHttpHeaders): HeaderLine[] {
  const lines: HeaderLine[] = [];
  let room = HEADER_BYTES_KEPT;
  for (const name in headers) {
    if (name.toLowerCase() === NOT_KEPT) continue;
    for (const each of valuesOf(headers[name])) {
      const value = textOfHeader(each);
      room -= Buffer.byteLength(name) + Buffer.byteLength(value);
      if (room < 0 || lines.length === HEADERS_KEPT) return lines;
      lines.push([name, value]);
    }
  }
  return lines;
}

const valuesOf = (value: string | string[] = []): readonly string[] =>
  typeof value === 'string' ? [value] : value;

/** Without control characters, which PostgreSQL or a page could not show. */
const textOfHeader = (value: string): string =>
  /^[\x20-\x7e]*$/.test(value) ? value : value.toWellFormed().replace(/\p{Cc}/gu, '\ufffd');

/** The start of a body as text that PostgreSQL can store: an incomplete last character is dropped, NUL is replaced. */
export function textOfBody(bytes: Buffer): string {
  if (bytes.length === 0) return '';
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  return text.replaceAll('\0', '\ufffd');
}

/** IANA's registry of content codings; others are not named, because a header may hold anything. */
const CODINGS = new Set([
  'gzip',
  'x-gzip',
  'deflate',
  'br',
  'zstd',
  'compress',
  'x-compress',
  'dcb',
  'dcz',
  'aes128gcm',
]);

/** Why a body cannot be shown as text; undefined unless its Content-Encoding (RFC 9110 §8.4) says that it is encoded. */
export function encodingDetail(header: string | string[] | undefined): string | undefined {
  const codings = valuesOf(header)
    .flatMap((value) => value.toLowerCase().split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (codings.length === 0) return undefined;
  const [first] = codings;
  const named = codings.length === 1 && CODINGS.has(first!) ? ` (${first})` : '';
  return `The body of the response is encoded${named}, which deliveries do not ask for. It is not shown.`;
}

/**
 * How long a Retry-After header (RFC 9110 §10.2.3: seconds or a date) asks to wait, in milliseconds; undefined if it cannot be
 * parsed.
 */
export function retryAfterMs(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined) return undefined;
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), RETRY_AFTER_LIMIT_MS);
}

/** RFC 9110 §5.6.7: all three forms of an HTTP date start with a weekday and are in GMT. */
function dateOf(text: string): number {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN;
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
}

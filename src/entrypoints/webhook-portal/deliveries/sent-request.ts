import { batchHeaders } from '#events/webhooks/batches/batch-request.js';
import { requestHeaders, secondsOf } from '#events/webhooks/deliveries/delivery-attempt.service.js';
import type { Attempt, DeliveryDetail } from '#events/webhooks/deliveries/delivery.js';
import { HEADER_MASK } from '#events/webhooks/endpoints/endpoint-headers.js';

/** An attempt for which there was a request. */
export type SentAttempt = Attempt & { url: string };

type Line = [name: string, value: string];

/**
 * The headers of an attempt that make up the message, in the order in which they were sent; the values of the endpoint's own are
 * masked. Without the payload the signature is hidden too, because it would confirm guesses; so is that of a batch, which holds others.
 */
export function headersOf(delivery: DeliveryDetail, attempt: Attempt): Line[] {
  const { sequenceGap, batch } = attempt;
  const signature = batch
    ? 'of the whole batch, not shown here'
    : delivery.payloadHidden === null
      ? attempt.signature
      : 'hidden, like the payload';
  const message = batch ? { id: batch.id, ...batchHeaders(batch.events) } : { ...delivery, sequenceGap };
  const headers = requestHeaders(message, secondsOf(attempt.attemptedAt), signature);
  const own = (attempt.ownHeaders ?? []).map((name): Line => [name, HEADER_MASK]);
  return [...Object.entries(headers), ...own];
}

/** Headers as lines. */
export const inLines = (headers: readonly Line[]): string =>
  headers.map(([name, value]) => `${name}: ${value}`).join('\n');

/** The head of an attempt's request as it was sent, before the empty line and the payload. */
export function requestHead(delivery: DeliveryDetail, attempt: SentAttempt): string {
  const { host, pathname, search } = new URL(attempt.url);
  const { payload } = delivery;
  const length: Line[] =
    payload === null || attempt.batch ? [] : [['content-length', String(Buffer.byteLength(payload))]];
  const headers: Line[] = [
    ['host', host],
    ['connection', 'keep-alive'],
    ...headersOf(delivery, attempt),
    ...length,
  ];
  return `POST ${pathname}${search} HTTP/1.1\n${inLines(headers)}`;
}

/** A command that sends the same again; undefined if the client may not see the payload, and for a batch. */
export function curlOf(delivery: DeliveryDetail, attempt: SentAttempt): string | undefined {
  if (attempt.batch || delivery.payload === null || delivery.payloadHidden !== null) return undefined;
  const headers = headersOf(delivery, attempt).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [
    `curl --globoff -X POST ${quoted(attempt.url)}`,
    ...headers,
    `--data-binary ${quoted(delivery.payload)}`,
  ].join(' \\\n  ');
}

/** In single quotes for a shell, in which only the quote itself is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

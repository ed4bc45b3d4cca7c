import { createHash } from 'node:crypto';
import type { ClaimedDelivery } from '../deliveries/claimed-delivery.js';
import { BATCH_TYPE } from './batch.js';
import { MISSED_MAX } from '../deliveries/delivery-lines.sql.js';

/** What a request is about: its `webhook-id`, its body, and what its headers say of it. */
export interface Message {
  id: string;
  eventType: string;
  /** Of each event, if there are several, with commas between them; so is the gap. */
  eventVersion: number | string;
  sequenceGap?: number | string | null;
  body: string;
}

/** The claims of each request, in the order of the feed: those of a batch together, all others by themselves. */
export function requestsOf(claims: readonly ClaimedDelivery[]): ClaimedDelivery[][] {
  const requests: ClaimedDelivery[][] = [];
  const batches = new Map<string, ClaimedDelivery[]>();
  for (const claim of claims) {
    if (!claim.batch) requests.push([claim]);
    else batches.set(claim.batch.key, [...(batches.get(claim.batch.key) ?? []), claim]);
  }
  for (const batch of batches.values()) {
    batch.sort((a, b) => (a.batch!.place < b.batch!.place ? -1 : 1));
    const sent = withGaps(batch).filter(({ cancelReason }) => cancelReason === null);
    requests.push(...batch.filter(({ cancelReason }) => cancelReason !== null).map((claim) => [claim]));
    if (sent.length > 0) requests.push(sent);
  }
  return requests;
}

/** The gaps as they are when each event comes directly after those before it in the batch. */
function withGaps(batch: readonly ClaimedDelivery[]): ClaimedDelivery[] {
  const gaps = new Map<string, number>();
  return batch.map((claim) => {
    const line = claim.batch!.line;
    if (line === null || claim.sequenceGap === null) return claim;
    const sequenceGap = gaps.get(line) ?? claim.sequenceGap;
    gaps.set(line, claim.cancelReason === null ? 0 : Math.min(sequenceGap + 1, MISSED_MAX));
    return { ...claim, sequenceGap };
  });
}

/** The message of a request: the payload itself, or a batch of them. */
export function messageOf(claims: readonly ClaimedDelivery[]): Message {
  const { id, eventType, eventVersion, sequenceGap, payload, batch } = claims[0]!;
  // By its members: copying a claim takes several times as long.
  if (!batch) return { id, eventType, eventVersion, sequenceGap, body: payload };
  return {
    id: batchIdOf(claims.map(({ id }) => id)),
    ...batchHeaders(claims),
    body: `{"type":"${BATCH_TYPE}","data":[${claims.map(({ payload }) => payload).join(',')}]}`,
  };
}

/** Of what the headers of a batch tell of its events. */
export const batchHeaders = (
  events: readonly { eventVersion: number; sequenceGap: number | null }[],
): Pick<Message, 'eventType' | 'eventVersion' | 'sequenceGap'> => ({
  eventType: BATCH_TYPE,
  eventVersion: events.map(({ eventVersion }) => eventVersion).join(),
  sequenceGap: events.some(({ sequenceGap }) => sequenceGap)
    ? events.map(({ sequenceGap }) => sequenceGap ?? 0).join()
    : null,
});

/** The same for the same deliveries in the same order, so that a repeated request is known by it, and another for any others. */
const batchIdOf = (deliveryIds: readonly string[]): string =>
  `batch_${createHash('sha256').update(deliveryIds.join()).digest('hex').slice(0, 32)}`;

const LISTED = 'The answer 207 lists it as failed.';
const BEHIND = 'The answer 207 lists an earlier event of its user as failed, and this endpoint is ordered.';
const MALFORMED =
  'The answer 207 is not a JSON object whose member “failed” is a list of ids of events in the batch, so all of them have failed.';

/**
 * Why each event of a batch that was answered with 207 is not acknowledged; undefined for those that are. What comes after a failed one of its
 * user is not acknowledged either, if the endpoint is ordered.
 */
export function refusedIn(answer: string, claims: readonly ClaimedDelivery[]): (string | undefined)[] {
  const failed = failedIn(answer);
  const ids = new Set(claims.map(({ batch }) => batch!.eventId));
  if (!failed?.every((id) => ids.has(id))) return claims.map(() => MALFORMED);
  const held = new Set<string>();
  return claims.map(({ batch }) => {
    const { eventId, line } = batch!;
    const isListed = failed.includes(eventId);
    if (line === null) return isListed ? LISTED : undefined;
    if (held.has(line)) return isListed ? LISTED : BEHIND;
    if (!isListed) return undefined;
    held.add(line);
    return LISTED;
  });
}

function failedIn(answer: string): string[] | undefined {
  try {
    const { failed } = JSON.parse(answer) as { failed?: unknown };
    return Array.isArray(failed) && failed.every((id) => typeof id === 'string') ? failed : undefined;
  } catch {
    return undefined;
  }
}

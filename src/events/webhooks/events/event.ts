/**
 * Tells a client whose data to delete, and contains nothing about the user but the id: it is delivered even if the user was
 * erased.
 */
export const CONSENT_REVOKED = 'user.consent_revoked';

/** An event to be stored. */
export interface NewEvent {
  id: string;
  type: string;
  userId: string;
  /** The body of every request that will deliver it, without its number. */
  payload: string;
  /** The client that published it. */
  publisherId: string;
  version: number;
  /** The revision of its type when it was checked. */
  revision: number;
  /** The id of what the event is about; null if events of its type are not numbered. */
  resourceId: string | null;
  /** The publisher can only publish about users of this realm. */
  realm: string;
  /** The request that published it. */
  requestId?: string;
  idempotency?: { keyDigest: Buffer; bodyDigest: Buffer };
}

/** The contents of an event; `timestamp` is ISO 8601 UTC with `Z`. */
export interface EventContent {
  type: string;
  timestamp: string;
  userId: string;
  data: object;
}

/**
 * The body of every request that delivers the event, with its members in this order (contract §10). The event id is the same for
 * every endpoint, so that a receiver with several endpoints can recognize deliveries of the same event.
 */
export const payloadOf = (id: string, { type, timestamp, userId, data }: EventContent): string =>
  JSON.stringify({ id, type, timestamp, user_id: userId, data });

/** A time in UTC with `Z`; unchanged if it already has that form. */
export const inUtc = (time: string): string => (/T.*Z$/.test(time) ? time : new Date(time).toISOString());

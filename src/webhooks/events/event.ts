/** An event on its way in: who published it, and the body of every request that will deliver it. */
export interface NewEvent {
  id: string;
  type: string;
  userId: string;
  payload: string;
  /** The client that published it. */
  publisherId: string;
  idempotency?: { keyDigest: Buffer; bodyDigest: Buffer };
}

/** The members that every delivery carries, in this order (contract §10); `timestamp` is ISO 8601 UTC with `Z`. */
export const payloadOf = (type: string, timestamp: string, userId: string, data: object): string =>
  JSON.stringify({ type, timestamp, user_id: userId, data });

/** A time in UTC with `Z`, as it was written where it was that already. */
export const inUtc = (time: string): string => (/T.*Z$/.test(time) ? time : new Date(time).toISOString());

/** Whether every number is one that JSON's readers agree on (RFC 8259 §6): others would be delivered as other numbers, or as null. */
export function holdsExactNumbers(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(holdsExactNumbers);
}

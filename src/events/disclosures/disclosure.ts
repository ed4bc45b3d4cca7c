/**
 * Used in place of a scope for a user's name and email address, which every token of the user may read. No scope has a space in
 * its name.
 */
export const ACCOUNT_DATA = 'account data';

/** How long the sums are kept (contract §26). */
export const MONTHS_KEPT = 13;

/** How often a client read data of a user that one scope covers. */
export interface Disclosure {
  clientId: string;
  userId: string;
  scope: string;
  requests: number;
  /** `YYYY-MM-DD` in UTC; null for today. */
  day: string | null;
}

/** Disclosures that count together, and once. */
export interface DisclosureBatch {
  /** The client that reports; empty for what this service served itself. */
  reporterId: string;
  batchId: string;
  bodyDigest: Buffer;
  /** Only consents of this realm count; null for all. */
  realm: string | null;
  disclosures: Disclosure[];
}

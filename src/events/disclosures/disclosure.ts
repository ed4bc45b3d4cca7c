import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a client read of a user's data on one day, of one kind. */
export interface DisclosedKind {
  /** `YYYY-MM-DD` in UTC. */
  day: string;
  /** The name of a scope, or `ACCOUNT_DATA`. */
  scope: string;
  /** The words of the catalogue for the scope; null for `ACCOUNT_DATA`. */
  description: string | null;
  /** How often the client asked for it, and how often it was sent some. */
  requests: number;
  deliveries: number;
}

/** What a client read of a user's data, newest day first. */
export interface DisclosureHistory {
  client: { id: string; name: string };
  /** When it was disconnected; null while it is connected. */
  endedAt: Date | null;
  kinds: DisclosedKind[];
}

/** A client that a user no longer shares data with, and that has read some. */
export interface FormerClient {
  id: string;
  name: string;
  endedAt: Date;
}

/** The kind of data in a few words: the beginning of the scope's description, as the user agreed to it, in any language. */
export function beginningOf(description: string): string {
  const beginning = description.split(':', 1)[0]!.trim();
  return beginning.charAt(0).toUpperCase() + beginning.slice(1);
}

/** How often a client read data of a user on a day, and how often it was sent some, by scope (contract §26). */
@Entity('disclosure_days')
export class DisclosureDayEntity {
  @PrimaryColumn('text') userId!: string;
  @PrimaryColumn('text') clientId!: string;
  /** In UTC. */
  @PrimaryColumn('date') day!: string;
  /** The name of a scope, or `ACCOUNT_DATA`. */
  @PrimaryColumn('text') scope!: string;
  @Column('bigint') requests!: string;
  /** Only summed-up deliveries: later ones are counted when the number is read. */
  @Column('bigint') deliveries!: string;
}

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

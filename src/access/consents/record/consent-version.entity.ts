import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Environment } from '#access/users/accounts/environment.js';
import { ConsentTerms, type ConsentMethod } from '../consent-terms.js';
import { TextOrNull, TimeOrNull } from '#platform/database/entities/columns.js';
import { say } from '#platform/language/text.js';

/** What happened to a consent, for its user: messages. */
export const EVENT_WORDS: Record<ConsentEventType, string> = {
  given: say('You agreed'),
  changed: say('What you agreed to changed'),
  ended: say('The sharing ended'),
};

const METHODS: Record<ConsentMethod, string> = {
  page: say('You authorized the application on its consent page.'),
  account: say('You decided it on your account page.'),
  operator: say('Our staff recorded it for you.'),
  sandbox: say('Someone answered for a driver in a sandbox.'),
  import: say('It was imported from another system.'),
  schedule: say('Its time was over.'),
  service: say('It ended together with the application or the account.'),
};

const ASKED_ANEW = say('We changed what the words mean, so you are asked again.');
const ENDED_BY_STAFF = say('Our staff ended it.');

/** The message that says how it came about. */
export const howOf = (method: ConsentMethod, reason: string | null): string => {
  if (reason === 'words_changed') return ASKED_ANEW;
  return reason === 'revoked_by_operator' ? ENDED_BY_STAFF : METHODS[method];
};

/** What happened to the consent with this version. */
type ConsentEventType = 'given' | 'changed' | 'ended';

/** A state of a consent, written by the database with every change, and never changed (docs/consent-receipts.md). */
@Entity('consent_versions')
export class ConsentVersionEntity extends ConsentTerms {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') clientId!: string;
  @Column('text') userId!: string;
  /** Counts from 1 for each user and client. */
  @Column('integer') number!: number;
  /** The id of the version before. */
  @Column('uuid', { nullable: true }) replaces!: string | null;
  @Column('timestamptz') recordedAt!: Date;
  @Column('text') event!: ConsentEventType;
  @TimeOrNull() validUntil!: Date | null;
  @TimeOrNull() endedAt!: Date | null;
  /** As shown at the time, like the two below. */
  @TextOrNull() clientName!: string | null;
  @TextOrNull() organisation!: string | null;
  @TextOrNull() environment!: Environment | null;
  @Column('bytea', { nullable: true }) evidenceDigest!: Buffer | null;
  /** When the person was erased. */
  @TimeOrNull() forgottenAt!: Date | null;
}

/** A version of a consent with the text of the words that were shown. */
export interface VersionWithWords {
  version: ConsentVersionEntity;
  words: string | null;
}

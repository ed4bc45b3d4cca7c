import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Environment } from '#access/users/accounts/environment.js';
import { ConsentTerms } from '../consent-terms.js';
import { TextOrNull, TimeOrNull } from '#platform/database/entities/columns.js';

/** What happened to the consent with this version. */
export type ConsentEventType = 'given' | 'changed' | 'ended';

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

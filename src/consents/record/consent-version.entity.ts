import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Environment } from '../../users/accounts/environment.js';
import type { ConsentMethod, ConsentReason } from '../consent.entity.js';

/** What became of the consent with a version. */
export type ConsentEventType = 'given' | 'changed' | 'ended';

/** A state of a consent, written by the database with every change, and never changed (docs/consent-receipts.md). */
@Entity('consent_versions')
export class ConsentVersionEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  /** Counts from 1 for each user and client. */
  @Column('integer')
  number!: number;

  /** The id of the version before. */
  @Column('uuid', { nullable: true })
  replaces!: string | null;

  @Column('timestamptz', { name: 'recorded_at' })
  recordedAt!: Date;

  @Column('text')
  event!: ConsentEventType;

  @Column('text', { array: true })
  scopes!: string[];

  /** What the client said the data are for: names of purposes. */
  @Column('text', { array: true })
  purposes!: string[];

  @Column('timestamptz', { name: 'granted_at' })
  grantedAt!: Date;

  @Column('timestamptz', { name: 'valid_until', nullable: true })
  validUntil!: Date | null;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  endedAt!: Date | null;

  @Column('text')
  method!: ConsentMethod;

  @Column('text', { nullable: true })
  reason!: ConsentReason | null;

  @Column('text', { name: 'recorded_by', nullable: true })
  recordedBy!: string | null;

  /** As shown at that moment; also below. */
  @Column('text', { name: 'client_name', nullable: true })
  clientName!: string | null;

  @Column('text', { nullable: true })
  organisation!: string | null;

  @Column('text', { nullable: true })
  environment!: Environment | null;

  @Column('text', { nullable: true })
  language!: string | null;

  @Column('bytea', { name: 'words_digest', nullable: true })
  wordsDigest!: Buffer | null;

  @Column('text', { nullable: true })
  evidence!: string | null;

  @Column('bytea', { name: 'evidence_digest', nullable: true })
  evidenceDigest!: Buffer | null;

  /** When the person was erased. */
  @Column('timestamptz', { name: 'forgotten_at', nullable: true })
  forgottenAt!: Date | null;
}

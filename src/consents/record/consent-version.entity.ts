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

  @Column('text')
  clientId!: string;

  @Column('text')
  userId!: string;

  /** Counts from 1 for each user and client. */
  @Column('integer')
  number!: number;

  /** The id of the version before. */
  @Column('uuid', { nullable: true })
  replaces!: string | null;

  @Column('timestamptz')
  recordedAt!: Date;

  @Column('text')
  event!: ConsentEventType;

  @Column('text', { array: true })
  scopes!: string[];

  /** What the client said the data are for: names of purposes. */
  @Column('text', { array: true })
  purposes!: string[];

  @Column('timestamptz')
  grantedAt!: Date;

  @Column('timestamptz', { nullable: true })
  validUntil!: Date | null;

  @Column('timestamptz', { nullable: true })
  endedAt!: Date | null;

  @Column('text')
  method!: ConsentMethod;

  @Column('text', { nullable: true })
  reason!: ConsentReason | null;

  @Column('text', { nullable: true })
  recordedBy!: string | null;

  /** As shown at that moment; also below. */
  @Column('text', { nullable: true })
  clientName!: string | null;

  @Column('text', { nullable: true })
  organisation!: string | null;

  @Column('text', { nullable: true })
  environment!: Environment | null;

  @Column('text', { nullable: true })
  language!: string | null;

  @Column('bytea', { nullable: true })
  wordsDigest!: Buffer | null;

  @Column('text', { nullable: true })
  evidence!: string | null;

  @Column('bytea', { nullable: true })
  evidenceDigest!: Buffer | null;

  /** When the person was erased. */
  @Column('timestamptz', { nullable: true })
  forgottenAt!: Date | null;
}

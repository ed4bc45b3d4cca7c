import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull, TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';

export const MAIL_STATES = ['pending', 'sent', 'failed'] as const;
export type MailState = (typeof MAIL_STATES)[number];

/** What a mail is about (contract §18). */
export const MAIL_KINDS = [
  'verify_email',
  'verify_contact',
  'forgotten_password',
  'sign_up',
  'account_exists',
  'security',
  'application_connected',
  'actionable',
  'endpoint_failing',
  'endpoint_disabled',
  'consents_ending',
  'invitation',
  'organisation',
  'data_export',
  'account_deleted',
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** The kinds that users can switch off. */
export const OPTIONAL_MAIL_KINDS = ['application_connected', 'actionable'] as const satisfies MailKind[];
export type OptionalMailKind = (typeof OPTIONAL_MAIL_KINDS)[number];

/** A mail to one address: waiting, sent or given up. The table is the queue. */
@Entity('mails')
export class MailEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: MailKind;
  /** Null for a person without an account, and for a contact of a client. */
  @TextOrNull() userId!: string | null;
  @TextOrNull() clientId!: string | null;
  @Column('text') address!: string;
  /** What the mail is about; unique. */
  @Column('text') cause!: string;
  @Column('bytea', { nullable: true, select: false }) sealedContent!: Buffer | null;
  @Column('text') state!: MailState;
  @Column('integer') attempts!: number;
  @Column('timestamptz') nextAttemptAt!: Date;
  /** Why the last attempt failed, without the server's text. */
  @TextOrNull() lastError!: string | null;
  @TimeOfInsert() createdAt!: Date;
  @TimeOrNull() sentAt!: Date | null;
}

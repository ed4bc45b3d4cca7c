import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OperatorRole } from '#platform/config/operator-role.js';
import type { Language } from '#platform/language/languages.js';
import type { OptionalMailKind } from '#records/mail/mail.entity.js';
import type { Environment } from './environment.js';
import { TextOrNull, TimeOrNull, InRealm } from '#platform/database/entities/columns.js';

export const USER_KINDS = ['individual', 'organisation'] as const;
export type UserKind = (typeof USER_KINDS)[number];
export const USER_ROLES = ['user', 'operator'] as const;
export type UserRole = (typeof USER_ROLES)[number];

/** An end user or an organisation (contract §2). */
@Entity('users')
export class UserEntity extends InRealm {
  @PrimaryColumn('text') id!: string;
  @Column('text') email!: string;
  /** The email in normalized form; unique. */
  @Column('text', { select: false }) emailKey!: string;
  /** When the address was verified; null for one that nobody verified (contract §18). */
  @TimeOrNull() emailVerifiedAt!: Date | null;
  /** The kinds of mail that the user has unsubscribed from. */
  @Column('text', { array: true, select: false }) unwantedMails!: OptionalMailKind[];
  /** The language of mails; null until the user has chosen one. */
  @TextOrNull() language!: Language | null;
  @Column('text') name!: string;
  @Column('text') kind!: UserKind;
  @Column('text') role!: UserRole;
  /** Set for operators only; the database sets admin by default. */
  @TextOrNull() operatorRole!: OperatorRole | null;
  /** argon2id; null for a user without a password. */
  @Column('text', { nullable: true, select: false }) passwordHash!: string | null;
  /** Whether clients of this owner may open the webhook portal. */
  @Column('boolean') webhooksEnabled!: boolean;
  @Column('boolean') enabled!: boolean;
  /** `sandbox` for drivers of a sandbox, otherwise `live`. */
  @Column('text') environment!: Environment;
  /** The owner of a driver's sandbox; null for everyone else. */
  @TextOrNull() sandboxOwnerId!: string | null;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ConsentTerms } from './consent-terms.js';
import { TimeOrNull } from '#platform/database/entities/columns.js';
import type { UserRole } from '#access/users/accounts/user.entity.js';

/** What a user agreed to share with a client (contract §2); one row per user and client. */
@Entity('consents')
export class ConsentEntity extends ConsentTerms {
  @PrimaryColumn('text') clientId!: string;
  @PrimaryColumn('text') userId!: string;
  /** The scopes whose words have changed their meaning since the user agreed to them. */
  @Column('text', { array: true, default: '{}' }) wordsChanged!: string[];
  @TimeOrNull() revokedAt!: Date | null;
  /** When it expires; null if it does not. */
  @TimeOrNull() expiresAt!: Date | null;
}

/** What a page has to show so that agreeing to it renews the consent: all of it, or the new words for which it ends. */
export const seenToRenew = ({
  scopes,
  wordsChanged,
}: Pick<ConsentEntity, 'scopes' | 'wordsChanged'>): string[] =>
  wordsChanged.length > 0 ? wordsChanged : scopes;

/** The scopes whose words still mean what the user agreed to. */
export const stillAgreedTo = ({ scopes, wordsChanged }: ConsentEntity): string[] =>
  scopes.filter((scope) => !wordsChanged.includes(scope));

/** A user who shares data with a client, and the scopes. */
export interface ConsentedUser {
  id: string;
  email: string;
  name: string;
  role: UserRole;
  scopes: string[];
  /** Milliseconds since 1970. */
  grantedAt: number;
  /** The same; null: never. */
  expiresAt: number | null;
}

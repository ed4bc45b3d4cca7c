import { Column } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** How a version of a consent came about: on the consent page, on the account page, by an operator, in a sandbox, … */
export type ConsentMethod = 'page' | 'account' | 'operator' | 'sandbox' | 'import' | 'schedule' | 'service';

/** Why a consent ended. */
export type ConsentEnd = 'withdrawn' | 'revoked_by_operator' | 'expired' | 'user_erased' | 'client_deleted';

/** Why a consent ended, or was given an end. */
export type ConsentReason = ConsentEnd | 'words_changed';

/** What a consent covers and how it was given, now or in one of its versions. */
export abstract class ConsentTerms {
  @Column('text', { array: true }) scopes!: string[];
  /** What the client said the data are for: names of purposes. */
  @Column('text', { array: true, default: '{}' }) purposes!: string[];
  @Column('timestamptz') grantedAt!: Date;
  /** The proof that an operator holds, if an operator recorded the consent. */
  @TextOrNull() evidence!: string | null;
  /** How it came about. */
  @Column('text', { default: 'import' }) method!: ConsentMethod;
  /** Why it ended, or was given an end. */
  @TextOrNull() reason!: ConsentReason | null;
  /** The operator, or the client, that recorded it for the user. */
  @TextOrNull() recordedBy!: string | null;
  /** The language of the words that the user saw. */
  @TextOrNull() language!: string | null;
  @Column('bytea', { nullable: true }) wordsDigest!: Buffer | null;
}

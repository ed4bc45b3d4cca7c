import { Column, Entity } from 'typeorm';
import { TextOrNull, TimeOrNull, IssuedSecret } from '#platform/database/entities/columns.js';

/** Who a link comes from: an operator, or a mail that was asked for on the login page or on the page to create an account. */
export type PasswordLinkPurpose = 'operator' | 'forgotten_password' | 'account_exists';

/** A one-time link to set a password: made by an operator (contract §12), or mailed (contract §18). */
@Entity('password_links')
export class PasswordLinkEntity extends IssuedSecret {
  @Column('text') userId!: string;
  /** The form that created it, which creates no other; null for a link created through the API. */
  @TextOrNull() formId!: string | null;
  /** Whether it was mailed to the user's address: using it shows that the address is theirs. */
  @Column('boolean') mailed!: boolean;
  /** Null where it is not known. */
  @TextOrNull() purpose!: PasswordLinkPurpose | null;
  /** Where the person was going before the mail, sealed (emails/sealed-returns.service.ts). */
  @Column('bytea', { nullable: true }) returnTo!: Buffer | null;
  @TimeOrNull() usedAt!: Date | null;
}

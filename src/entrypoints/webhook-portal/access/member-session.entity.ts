import { Column, Entity } from 'typeorm';
import { IssuedSecret } from '#platform/database/entities/issued-secret.js';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** A session of a logged-in member in the portal of one client (contract §20). */
@Entity('portal_member_sessions')
export class MemberSessionEntity extends IssuedSecret {
  @Column('text')
  clientId!: string;

  @Column('text')
  userId!: string;

  /** The organisation; null if the user is its own account. */
  @TextOrNull()
  memberOf!: string | null;

  /** The login that started it, with which it ends. */
  @Column('text')
  loginId!: string;
}

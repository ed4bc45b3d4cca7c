import { Column, Entity } from 'typeorm';
import { IssuedSecret } from '#platform/database/entities/issued-secret.js';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** A browser session that a one-time link opened, in the portal of one client. A member's is in member-session.entity.ts. */
@Entity('portal_sessions')
export class LinkSessionEntity extends IssuedSecret {
  @Column('text')
  clientId!: string;

  /** The grant of the owner's token that requested the link; null for a client-credentials token. */
  @TextOrNull()
  grantId!: string | null;
}

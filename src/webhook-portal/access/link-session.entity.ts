import { Column, Entity } from 'typeorm';
import { IssuedSecret } from '../../database/entities/issued-secret.js';
import { TextOrNull } from '../../database/entities/columns.js';

/** A browser session in the portal of one client. */
@Entity('portal_sessions')
export class PortalSessionEntity extends IssuedSecret {
  @Column('text')
  clientId!: string;

  /** The grant of the owner's token behind it; null for a client-credentials token. */
  @TextOrNull()
  grantId!: string | null;
}

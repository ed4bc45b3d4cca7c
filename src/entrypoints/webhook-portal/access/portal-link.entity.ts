import { Column, Entity } from 'typeorm';
import { IssuedSecret } from '#platform/database/entities/issued-secret.js';
import { TextOrNull, TimeOrNull } from '#platform/database/entities/columns.js';

/** A one-time link to the webhook portal; only the digest of its key is stored. */
@Entity('portal_links')
export class PortalLinkEntity extends IssuedSecret {
  @Column('text')
  clientId!: string;

  /** The grant of the owner's token that created it; null for a client-credentials token. */
  @TextOrNull()
  grantId!: string | null;

  @TimeOrNull()
  redeemedAt!: Date | null;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Who a user is at an identity provider: `iss` and `sub` of its ID tokens. */
@Entity('identities')
export class IdentityEntity {
  @PrimaryColumn('text')
  issuer!: string;

  @PrimaryColumn('text')
  subject!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  /** The provider's id in the settings. */
  @Column('text')
  provider!: string;

  @Column({ type: 'timestamptz', name: 'linked_at', insert: false, update: false })
  linkedAt!: Date;

  @Column({ type: 'timestamptz', name: 'last_used_at', insert: false })
  lastUsedAt!: Date;
}

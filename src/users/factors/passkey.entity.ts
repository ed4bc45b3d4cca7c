import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A WebAuthn credential of a user, who signs in with it alone (contract §16). */
@Entity('passkeys')
export class PasskeyEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  /** In base64url; unique. */
  @Column('text', { name: 'credential_id' })
  credentialId!: string;

  /** In COSE form. */
  @Column('bytea', { name: 'public_key' })
  publicKey!: Buffer;

  /** Its signature counter when it was last used; many passkeys always send 0. */
  @Column('bigint', { name: 'sign_count', transformer: { from: Number, to: (count: unknown) => count } })
  signCount!: number;

  @Column('text', { array: true })
  transports!: string[];

  @Column('text')
  name!: string;

  /** Whether it is copied to other devices of its owner. */
  @Column('boolean', { name: 'backed_up' })
  backedUp!: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;

  @Column({ type: 'timestamptz', name: 'last_used_at', nullable: true, insert: false })
  lastUsedAt!: Date | null;
}

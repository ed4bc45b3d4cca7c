import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert } from '#platform/database/entities/columns.js';

/** A WebAuthn credential of a user, who signs in with it alone (contract §16). */
@Entity('passkeys')
export class PasskeyEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') userId!: string;
  /** In base64url; unique. */
  @Column('text') credentialId!: string;
  /** In COSE form. */
  @Column('bytea') publicKey!: Buffer;
  /** Its signature counter when it was last used; many passkeys always send 0. */
  @Column('bigint', { transformer: { from: Number, to: (count: unknown) => count } }) signCount!: number;
  @Column('text', { array: true }) transports!: string[];
  @Column('text') name!: string;
  /** Whether it is copied to other devices of its owner. */
  @Column('boolean') backedUp!: boolean;
  @TimeOfInsert() createdAt!: Date;
  @Column({ type: 'timestamptz', nullable: true, insert: false }) lastUsedAt!: Date | null;
}

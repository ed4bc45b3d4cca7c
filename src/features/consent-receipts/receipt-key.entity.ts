import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOrNull } from '#platform/database/entities/columns.js';

/** A key that signs receipts of consents; its id is the thumbprint of its public part (RFC 7638). */
@Entity('receipt_keys')
export class ReceiptKeyEntity {
  @PrimaryColumn('text') id!: string;
  /** Ed25519, 32 bytes. */
  @Column('bytea') publicKey!: Buffer;
  @Column('bytea', { select: false }) sealed!: Buffer;
  @Column({ type: 'timestamptz', insert: false }) createdAt!: Date;
  @TimeOrNull() retiredAt!: Date | null;
}

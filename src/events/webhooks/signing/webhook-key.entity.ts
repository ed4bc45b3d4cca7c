import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';

/** A key pair (Ed25519) that signs deliveries to a client's endpoints (contract §22). */
@Entity('webhook_signing_keys')
export class WebhookKeyEntity {
  /** Its thumbprint (RFC 7638). */
  @PrimaryColumn('text') id!: string;
  @Column('text') clientId!: string;
  @Column('bytea') publicKey!: Buffer;
  /** The private part. */
  @Column('bytea') sealed!: Buffer;
  @TimeOfInsert() createdAt!: Date;
  /** When another one took its place, after which it signs beside that one for a while. */
  @TimeOrNull() retiredAt!: Date | null;
}

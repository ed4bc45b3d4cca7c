import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One of a confidential client's secrets, as a SHA-256 digest. Several are valid at once during a rotation. */
@Entity('client_secrets')
export class ClientSecretEntity {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** Null: never, until it is rotated. */
  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;
}

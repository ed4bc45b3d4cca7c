import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One of a confidential client's secrets, as its SHA-256 digest; several live at once while one is rotated. */
@Entity('client_secrets')
export class ClientSecretEntity {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** Null: until it is replaced. */
  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;
}

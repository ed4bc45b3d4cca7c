import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One of a confidential client's secrets, as a SHA-256 digest. Several are valid at once during a rotation. */
@Entity('client_secrets')
export class ClientSecretEntity {
  @PrimaryColumn('text')
  clientId!: string;

  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('timestamptz')
  createdAt!: Date;

  /** Null: never, until it is rotated. */
  @Column('timestamptz', { nullable: true })
  expiresAt!: Date | null;
}

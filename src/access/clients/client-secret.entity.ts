import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOrNull } from '#platform/database/entities/columns.js';

/** One of a confidential client's secrets, as a SHA-256 digest. Several are valid at once during a rotation. */
@Entity('client_secrets')
export class ClientSecretEntity {
  @PrimaryColumn('text')
  clientId!: string;

  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('timestamptz')
  createdAt!: Date;

  /** Null until it is rotated: it does not expire. */
  @TimeOrNull()
  expiresAt!: Date | null;
}

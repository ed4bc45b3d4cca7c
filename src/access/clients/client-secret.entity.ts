import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOrNull } from '#platform/database/entities/columns.js';

/** One of a confidential client's secrets, as a SHA-256 digest. Several are valid at once during a rotation. */
@Entity('client_secrets')
export class ClientSecretEntity {
  @PrimaryColumn('text') clientId!: string;
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('timestamptz') createdAt!: Date;
  /** Null until it is rotated: it does not expire. */
  @TimeOrNull() expiresAt!: Date | null;
}

/** The public facts about a secret: when it was created, when it expires, and when it was last used. */
export interface SecretInfo {
  /** Identifies it among the client's secrets by its creation time. */
  name: string;
  createdAt: Date;
  /** Null until it is rotated: it does not expire. */
  expiresAt: Date | null;
  isExpired: boolean;
  /** To the hour; null if no use was recorded. */
  lastUsedAt: Date | null;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';

/** A key that tokens are signed with. The newest signs, older ones verify; a revoked one does neither. */
@Entity('token_keys')
export class TokenKeyEntity {
  /** Random, below 2^32; part of every token. */
  @PrimaryColumn('bigint', { transformer: { from: Number, to: (id: unknown) => id } }) id!: number;
  /** The secret, sealed under `ENCRYPTION_KEY`. */
  @Column('bytea', { select: false }) sealed!: Buffer;
  @TimeOfInsert() createdAt!: Date;
  /** Since when it no longer signs. */
  @TimeOrNull() retiredAt!: Date | null;
  @TimeOrNull() revokedAt!: Date | null;
  /** The longest lifetime of its access tokens, in seconds. */
  @Column('integer') accessTtl!: number;
  /** The longest lifetime of its grants, in seconds. */
  @Column('integer') grantTtl!: number;
}

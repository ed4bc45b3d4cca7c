import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A refresh token: live while `retiredAt` is null; for its grace time a retired one has a row in `sealed_successors`. */
@Entity('refresh_tokens')
export class RefreshTokenEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text', { name: 'grant_id' })
  grantId!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('timestamptz', { name: 'retired_at', nullable: true })
  retiredAt!: Date | null;

  @Column('timestamptz', { name: 'grace_ends_at', nullable: true })
  graceEndsAt!: Date | null;

  @Column('bytea', { name: 'successor_digest', nullable: true })
  successorDigest!: Buffer | null;

  @Column('bytea', { name: 'successor_access_digest', nullable: true })
  successorAccessDigest!: Buffer | null;
}

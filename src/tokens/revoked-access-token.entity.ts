import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An access token that was revoked on its own, kept until it would have expired. */
@Entity('revoked_access_tokens')
export class RevokedAccessTokenEntity {
  /** See `accessTokenId`. */
  @PrimaryColumn('text')
  id!: string;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}

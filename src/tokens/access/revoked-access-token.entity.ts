import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An access token that was revoked on its own, kept until it would have expired. */
@Entity('revoked_access_tokens')
export class RevokedAccessTokenEntity {
  /** See `accessTokenId`. */
  @PrimaryColumn('text')
  id!: string;

  @Column('timestamptz')
  expiresAt!: Date;

  /** Whose token it was, for the feed of changes (contract §23); null if it is not known. */
  @Column('text', { nullable: true })
  clientId!: string | null;

  @Column('text', { nullable: true })
  userId!: string | null;
}

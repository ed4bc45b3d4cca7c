import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** An access token that was revoked on its own, kept until it would have expired. */
@Entity('revoked_access_tokens')
export class RevokedAccessTokenEntity {
  /** See `accessTokenId`. */
  @PrimaryColumn('text')
  id!: string;

  @Column('timestamptz')
  expiresAt!: Date;

  /** The client of the token, for the feed of changes (contract §23); null if unknown. */
  @TextOrNull()
  clientId!: string | null;

  @TextOrNull()
  userId!: string | null;
}

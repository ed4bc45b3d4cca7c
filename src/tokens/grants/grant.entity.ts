import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { ClientEntity } from '../../clients/client.entity.js';
import { UserEntity } from '../../users/accounts/user.entity.js';

/**
 * What a user gave a client in one authorization, and its current pair of tokens
 * (docs/decisions/0012-tokens-without-rows.md). Revoking it is one write to this row.
 */
@Entity('grants')
export class GrantEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { array: true })
  scopes!: string[];

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** When it would end if its consent never did; null for a grant of an earlier build. */
  @Column('timestamptz', { name: 'own_end', nullable: true })
  ownEnd!: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  @Column('text', { name: 'revocation_reason', nullable: true })
  revocationReason!: string | null;

  /** The number of rotations so far. */
  @Column('integer')
  generation!: number;

  /** The key that signed the current pair. */
  @Column('bigint', { name: 'token_key_id' })
  tokenKeyId!: string;

  /** With the position: as of when the rights of the current pair were valid (`Stamp`). */
  @Column('bigint', { name: 'token_era' })
  tokenEra!: string;

  @Column('bigint', { name: 'token_position' })
  tokenPosition!: string;

  /** When the current pair was issued. */
  @Column('timestamptz', { name: 'issued_at' })
  issuedAt!: Date;

  @Column('timestamptz', { name: 'access_expires_at' })
  accessExpiresAt!: Date;

  /** The scopes asked for with the current pair; null for all that the grant has. */
  @Column('text', { name: 'asked_scopes', array: true, nullable: true })
  askedScopes!: string[] | null;

  /** The scopes of the current access token; null for all that the grant has. */
  @Column('text', { name: 'given_scopes', array: true, nullable: true })
  givenScopes!: string[] | null;

  @Column('timestamptz', { name: 'refresh_expires_at' })
  refreshExpiresAt!: Date;

  /** When the last generations were retired, newest first. */
  @Column('timestamptz', { array: true })
  rotations!: Date[];

  /** When the purge looks again whether the refresh token has expired. */
  @Column('timestamptz', { name: 'look_again_at' })
  lookAgainAt!: Date;

  /** Only where a query joins it. */
  @ManyToOne(() => ClientEntity)
  @JoinColumn({ name: 'client_id' })
  client!: ClientEntity;

  /** Only where a query joins it. */
  @ManyToOne(() => UserEntity)
  @JoinColumn({ name: 'user_id' })
  user!: UserEntity;
}

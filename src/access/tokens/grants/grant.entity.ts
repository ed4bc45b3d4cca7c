import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { ClientEntity } from '#access/clients/client.entity.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import { TextOrNull, TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';

/**
 * What a user gave a client in one authorization, and its current pair of tokens
 * (docs/decisions/0012-tokens-without-rows.md). Revoking it is one write to this row.
 */
@Entity('grants')
export class GrantEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') clientId!: string;
  @Column('text') userId!: string;
  @Column('text', { array: true }) scopes!: string[];
  @TimeOfInsert() createdAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
  /** When the grant ends if the consent does not end earlier; null for a grant of an earlier build. */
  @TimeOrNull() ownEnd!: Date | null;
  @TimeOrNull() revokedAt!: Date | null;
  @TextOrNull() revocationReason!: string | null;
  /** The number of rotations so far. */
  @Column('integer') generation!: number;
  /** The key that signed the current pair. */
  @Column('bigint') tokenKeyId!: string;
  /** With the position: when the rights of the current pair were known to be valid (`Stamp`). */
  @Column('bigint') tokenEra!: string;
  @Column('bigint') tokenPosition!: string;
  /** When the current pair was issued. */
  @Column('timestamptz') issuedAt!: Date;
  @Column('timestamptz') accessExpiresAt!: Date;
  /** The scopes asked for with the current pair; null for all that the grant has. */
  @Column('text', { array: true, nullable: true }) askedScopes!: string[] | null;
  /** The scopes of the current access token; null for all that the grant has. */
  @Column('text', { array: true, nullable: true }) givenScopes!: string[] | null;
  /** What it was authorized for (RFC 8707), and what the current access token is for; null for everything, and for all of that. */
  @Column('text', { array: true, nullable: true }) resources!: string[] | null;
  @Column('text', { array: true, nullable: true }) givenResources!: string[] | null;
  /** When and how the user had logged in, if the client asked for it (RFC 9470). */
  @TimeOrNull() authTime!: Date | null;
  @TextOrNull() acr!: string | null;
  /** The thumbprint of the key that the current pair is bound to (RFC 9449); null for none. */
  @TextOrNull() dpopJkt!: string | null;
  @Column('timestamptz') refreshExpiresAt!: Date;
  /** When the latest generations were retired, newest last (`refresh-tokens.repository.ts`). */
  @Column('timestamptz', { array: true }) rotations!: Date[];
  /** The first generation that was retired at each of these times. */
  @Column('integer', { array: true }) rotatedGenerations!: number[];
  /** When the purge checks again whether the refresh token has expired. */
  @Column('timestamptz') lookAgainAt!: Date;
  /** Only where a query joins it. */
  @ManyToOne(() => ClientEntity) @JoinColumn({ name: 'client_id' }) client!: ClientEntity;
  /** Only where a query joins it. */
  @ManyToOne(() => UserEntity) @JoinColumn({ name: 'user_id' }) user!: UserEntity;
}

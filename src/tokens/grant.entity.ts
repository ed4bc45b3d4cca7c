import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a user gave a client at one authorization: the family of tokens that came of one code. */
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

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  @Column('text', { name: 'revocation_reason', nullable: true })
  revocationReason!: string | null;
}

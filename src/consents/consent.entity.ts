import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a user agreed to share with a client (contract §2); one row per user and client. */
@Entity('consents')
export class ConsentEntity {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { array: true })
  scopes!: string[];

  @Column('timestamptz', { name: 'granted_at' })
  grantedAt!: Date;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  /** The proof that an operator holds, if an operator recorded the consent. */
  @Column('text', { nullable: true })
  evidence!: string | null;
}

import { Entity, PrimaryColumn } from 'typeorm';

/** That the user and the client were told of one end of a consent. */
@Entity('consent_notices')
export class ConsentNoticeEntity {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  @PrimaryColumn('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}

import { Entity, PrimaryColumn } from 'typeorm';

/** That the user and the client were told of one end of a consent. */
@Entity('consent_notices')
export class ConsentNoticeEntity {
  @PrimaryColumn('text')
  clientId!: string;

  @PrimaryColumn('text')
  userId!: string;

  @PrimaryColumn('timestamptz')
  expiresAt!: Date;
}

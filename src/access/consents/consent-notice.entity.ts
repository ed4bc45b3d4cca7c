import { Entity, PrimaryColumn } from 'typeorm';

/** Records that the user and the client were told when a consent will end. */
@Entity('consent_notices')
export class ConsentNoticeEntity {
  @PrimaryColumn('text')
  clientId!: string;

  @PrimaryColumn('text')
  userId!: string;

  @PrimaryColumn('timestamptz')
  expiresAt!: Date;
}

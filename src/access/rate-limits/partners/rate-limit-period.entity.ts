import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A period in which a client and user exceeded their rate limit; its refusals show one notification. */
@Entity('rate_limit_periods')
export class RateLimitPeriodEntity {
  @PrimaryColumn('text')
  clientId!: string;

  @PrimaryColumn('text')
  userId!: string;

  @Column('text')
  notificationId!: string;

  @Column('timestamptz')
  endsAt!: Date;
}

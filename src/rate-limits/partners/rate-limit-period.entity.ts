import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A period in which a client and user exceeded their rate limit; its refusals show one notification. */
@Entity('rate_limit_periods')
export class RateLimitPeriodEntity {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'notification_id' })
  notificationId!: string;

  @Column('timestamptz', { name: 'ends_at' })
  endsAt!: Date;
}

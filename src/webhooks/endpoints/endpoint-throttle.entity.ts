import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many attempts of a throttled endpoint started in each second of the last minute; the claim of deliveries counts them. */
@Entity('webhook_throttles')
export class EndpointThrottleEntity {
  @PrimaryColumn('text', { name: 'endpoint_id' })
  endpointId!: string;

  /** Until when no attempt may start. */
  @Column('timestamptz', { name: 'blocked_until' })
  blockedUntil!: Date;

  @Column('timestamptz', { name: 'start_seconds', array: true })
  startSeconds!: Date[];

  @Column('integer', { name: 'start_counts', array: true })
  startCounts!: number[];
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many attempts of a throttled endpoint started in each second of the last minute; the claim of deliveries counts them. */
@Entity('webhook_throttles')
export class EndpointThrottleEntity {
  @PrimaryColumn('text') endpointId!: string;
  /** No attempt may start before this time. */
  @Column('timestamptz') blockedUntil!: Date;
  @Column('timestamptz', { array: true }) startSeconds!: Date[];
  @Column('integer', { array: true }) startCounts!: number[];
}

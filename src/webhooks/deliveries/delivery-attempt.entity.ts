import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { FailureKind, HeaderLine } from '../http/http-outcome.js';
import type { Attempt } from './delivery.js';

/** A finished attempt of a delivery. */
@Entity('delivery_attempts')
export class DeliveryAttemptEntity implements Attempt {
  @PrimaryColumn('text', { name: 'delivery_id' })
  deliveryId!: string;

  @PrimaryColumn('integer')
  number!: number;

  @Column('timestamptz', { name: 'attempted_at' })
  attemptedAt!: Date;

  @Column('integer', { name: 'duration_ms' })
  durationMs!: number;

  @Column('integer', { nullable: true })
  status!: number | null;

  @Column('text', { nullable: true })
  failure!: FailureKind | null;

  @Column('text', { nullable: true })
  detail!: string | null;

  @Column('text', { name: 'response_start', nullable: true })
  responseStart!: string | null;

  @Column('jsonb', { name: 'response_headers', nullable: true })
  responseHeaders!: HeaderLine[] | null;

  @Column('text')
  signature!: string;

  @Column('text', { nullable: true })
  url!: string | null;

  @Column('text', { name: 'own_headers', array: true, nullable: true })
  ownHeaders!: string[] | null;
}

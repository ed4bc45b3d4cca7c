import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { FailureKind, HeaderLine } from '../http/http-outcome.js';
import type { Attempt } from './delivery.js';

/** A finished attempt of a delivery. */
@Entity('delivery_attempts')
export class DeliveryAttemptEntity implements Attempt {
  @PrimaryColumn('text')
  deliveryId!: string;

  @PrimaryColumn('integer')
  number!: number;

  @Column('timestamptz')
  attemptedAt!: Date;

  @Column('integer')
  durationMs!: number;

  @Column('integer', { nullable: true })
  status!: number | null;

  @Column('text', { nullable: true })
  failure!: FailureKind | null;

  @Column('text', { nullable: true })
  detail!: string | null;

  @Column('text', { nullable: true })
  responseStart!: string | null;

  @Column('jsonb', { nullable: true })
  responseHeaders!: HeaderLine[] | null;

  @Column('text')
  signature!: string;

  @Column('text', { nullable: true })
  url!: string | null;

  @Column('text', { array: true, nullable: true })
  ownHeaders!: string[] | null;
}

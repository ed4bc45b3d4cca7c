import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { FailureKind, HeaderLine } from '../http/http-outcome.js';
import type { Attempt } from './delivery.js';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** A finished attempt of a delivery. */
@Entity('delivery_attempts')
export class DeliveryAttemptEntity implements Omit<Attempt, 'batch'> {
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

  @TextOrNull()
  failure!: FailureKind | null;

  @TextOrNull()
  detail!: string | null;

  @TextOrNull()
  responseStart!: string | null;

  @Column('jsonb', { nullable: true })
  responseHeaders!: HeaderLine[] | null;

  @Column('text')
  signature!: string;

  @Column('integer', { nullable: true })
  sequenceGap!: number | null;

  @TextOrNull()
  batchId!: string | null;

  @TextOrNull()
  url!: string | null;

  @Column('text', { array: true, nullable: true })
  ownHeaders!: string[] | null;
}

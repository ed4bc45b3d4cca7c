import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { EndpointEntity } from '../endpoints/endpoint.entity.js';
import { EventEntity } from '../events/event.entity.js';
import type { CancelReason, DeliveryState } from './delivery.js';
import { TextOrNull, TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';

/** The delivery of one event to one endpoint; the pending ones are a queue. */
@Entity('deliveries')
export class DeliveryEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  eventId!: string;

  @ManyToOne(() => EventEntity)
  @JoinColumn({ name: 'event_id' })
  event?: EventEntity;

  @Column('text')
  eventType!: string;

  @Column('text')
  endpointId!: string;

  @ManyToOne(() => EndpointEntity)
  @JoinColumn({ name: 'endpoint_id' })
  endpoint?: EndpointEntity;

  @Column('text')
  clientId!: string;

  @Column('text')
  state!: DeliveryState;

  @TextOrNull()
  cancelReason!: CancelReason | null;

  /** The number of attempts made. */
  @Column('integer')
  attempts!: number;

  /** The number of retries of the schedule that are used up. */
  @Column('integer')
  retries!: number;

  /** When a pending delivery is due; while an instance holds it, when its lease ends. */
  @TimeOrNull()
  nextAttemptAt!: Date | null;

  /** When it was put off to; null: due since it was made. */
  @TimeOrNull()
  dueAt!: Date | null;

  /** Identifies the holder of the lease. */
  @TextOrNull()
  leaseId!: string | null;

  /** At an ordered endpoint: the user whose order it keeps, as a number; null outside of any order. */
  @Column({ type: 'bigint', nullable: true, select: false, insert: false })
  line!: string | null;

  /** Its place in the line: the transaction of its event, as in the feed. */
  @Column({ type: 'bigint', nullable: true, select: false, insert: false })
  place!: string | null;

  /** Whether it was put off, because an earlier one of its line was pending. */
  @Column({ type: 'boolean', insert: false })
  behind!: boolean;

  /** The last recovery that resent it. */
  @TextOrNull()
  recoveryId!: string | null;

  @TimeOfInsert()
  createdAt!: Date;

  @TimeOrNull()
  finishedAt!: Date | null;

  /** Whether its user was erased. */
  @Column('boolean')
  erased!: boolean;
}

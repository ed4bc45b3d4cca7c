import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { EndpointEntity } from '../endpoints/endpoint.entity.js';
import { EventEntity } from '../events/event.entity.js';
import type { CancelReason, DeliveryState } from './delivery.js';

/** The delivery of one event to one endpoint; the pending ones are a queue. */
@Entity('deliveries')
export class DeliveryEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'event_id' })
  eventId!: string;

  @ManyToOne(() => EventEntity)
  @JoinColumn({ name: 'event_id' })
  event?: EventEntity;

  @Column('text', { name: 'event_type' })
  eventType!: string;

  @Column('text', { name: 'endpoint_id' })
  endpointId!: string;

  @ManyToOne(() => EndpointEntity)
  @JoinColumn({ name: 'endpoint_id' })
  endpoint?: EndpointEntity;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text')
  state!: DeliveryState;

  @Column('text', { name: 'cancel_reason', nullable: true })
  cancelReason!: CancelReason | null;

  /** The number of attempts made. */
  @Column('integer')
  attempts!: number;

  /** The number of retries of the schedule that are used up. */
  @Column('integer')
  retries!: number;

  /** When a pending delivery is due; while an instance holds it, when its lease ends. */
  @Column('timestamptz', { name: 'next_attempt_at', nullable: true })
  nextAttemptAt!: Date | null;

  /** Names the holder of the lease. */
  @Column('text', { name: 'lease_id', nullable: true })
  leaseId!: string | null;

  /** The last recovery that resent it. */
  @Column('text', { name: 'recovery_id', nullable: true })
  recoveryId!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt!: Date | null;

  /** Whether the user that it is about was erased. */
  @Column('boolean')
  erased!: boolean;
}

import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { EndpointEntity } from '../endpoints/endpoint.entity.js';
import { EventEntity } from '../events/event.entity.js';
import type { CancelReason, DeliveryState } from './delivery.js';

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

  @Column('text', { nullable: true })
  cancelReason!: CancelReason | null;

  /** The number of attempts made. */
  @Column('integer')
  attempts!: number;

  /** The number of retries of the schedule that are used up. */
  @Column('integer')
  retries!: number;

  /** When a pending delivery is due; while an instance holds it, when its lease ends. */
  @Column('timestamptz', { nullable: true })
  nextAttemptAt!: Date | null;

  /** Names the holder of the lease. */
  @Column('text', { nullable: true })
  leaseId!: string | null;

  /** The last recovery that resent it. */
  @Column('text', { nullable: true })
  recoveryId!: string | null;

  @Column({ type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz', { nullable: true })
  finishedAt!: Date | null;

  /** Whether its user was erased. */
  @Column('boolean')
  erased!: boolean;
}

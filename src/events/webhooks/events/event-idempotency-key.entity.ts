import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { EventEntity } from './event.entity.js';

/** An `Idempotency-Key` of a publisher, and the event and body that it was used for. */
@Entity('event_idempotency_keys')
export class EventIdempotencyKeyEntity {
  @PrimaryColumn('text')
  clientId!: string;

  @PrimaryColumn('bytea')
  keyDigest!: Buffer;

  @Column('bytea')
  bodyDigest!: Buffer;

  @Column('text')
  eventId!: string;

  @ManyToOne(() => EventEntity, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'event_id' })
  event?: EventEntity;

  @Column({ type: 'timestamptz', insert: false })
  createdAt!: Date;
}

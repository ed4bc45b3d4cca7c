import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { EventEntity } from './event.entity.js';

/** An `Idempotency-Key` of a publisher, and the event and body that it was used for. */
@Entity('event_idempotency_keys')
export class EventIdempotencyKeyEntity {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @PrimaryColumn('bytea', { name: 'key_digest' })
  keyDigest!: Buffer;

  @Column('bytea', { name: 'body_digest' })
  bodyDigest!: Buffer;

  @Column('text', { name: 'event_id' })
  eventId!: string;

  @ManyToOne(() => EventEntity, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'event_id' })
  event?: EventEntity;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false })
  createdAt!: Date;
}

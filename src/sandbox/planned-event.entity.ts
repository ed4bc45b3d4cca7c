import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** An event of a driver that waits for its time. */
@Entity('sandbox_planned_events')
export class PlannedEventEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'owner_id' })
  ownerId!: string;

  @Column('timestamptz', { name: 'due_at' })
  dueAt!: Date;

  /** The time that it bears. */
  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;

  @Column('text')
  type!: string;

  @Column('jsonb')
  data!: object;

  @Column('boolean', { name: 'ends_session' })
  endsSession!: boolean;
}

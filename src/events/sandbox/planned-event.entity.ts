import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** An event of a driver that waits for its time. */
@Entity('sandbox_planned_events')
export class PlannedEventEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: string;

  @Column('text')
  userId!: string;

  @Column('text')
  ownerId!: string;

  @Column('timestamptz')
  dueAt!: Date;

  /** The time that it bears. */
  @Column('timestamptz')
  occurredAt!: Date;

  @Column('text')
  type!: string;

  @Column('jsonb')
  data!: object;

  @Column('boolean')
  endsSession!: boolean;
}

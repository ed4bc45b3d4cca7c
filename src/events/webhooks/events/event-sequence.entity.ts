import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The number of the last event about one thing of a user (contract §21). */
@Entity('event_sequences')
export class EventSequenceEntity {
  @PrimaryColumn('text')
  userId!: string;

  /** The part of the event type before the dot. */
  @PrimaryColumn('text')
  family!: string;

  @PrimaryColumn('text')
  resourceId!: string;

  @Column('bigint')
  last!: string;

  /** The day of the last event. */
  @Column('date')
  seenOn!: string;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An event that was accepted (contract §10). */
@Entity('events')
export class EventEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  type!: string;

  /** Null for a test, and if the user was erased. */
  @Column('text', { name: 'user_id', nullable: true })
  userId!: string | null;

  /** The body of every request that delivers it; null if its user was erased. */
  @Column('text', { nullable: true })
  payload!: string | null;

  /** The number of endpoints it went to when it was accepted. */
  @Column('integer')
  deliveries!: number;

  @Column('boolean', { name: 'test' })
  isTest!: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;
}

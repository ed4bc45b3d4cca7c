import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An event that was accepted (contract §10). Its `xid8` column, the transaction, is of a type that TypeORM does not know. */
@Entity('events')
export class EventEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  type!: string;

  /** Null for a test, and if the user was erased. */
  @Column('text', { nullable: true })
  userId!: string | null;

  /** The body of every request that delivers it; null if its user was erased. */
  @Column('text', { nullable: true })
  payload!: string | null;

  /** The number of endpoints to which it was sent when it was accepted. */
  @Column('integer')
  deliveries!: number;

  @Column('boolean', { name: 'test' })
  isTest!: boolean;

  /** The version of its type. */
  @Column('integer')
  version!: number;

  /** The only client that it is for; null if it is for every client that may see it. */
  @Column('text', { nullable: true })
  clientId!: string | null;

  /** The request that published it; null if there was none, as for planned sandbox events. */
  @Column('text', { nullable: true, select: false })
  requestId!: string | null;

  @Column({ type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;
}

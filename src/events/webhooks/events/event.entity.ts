import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull, TimeOfInsert } from '#platform/database/entities/columns.js';

/**
 * An accepted event (contract §10). The column with its transaction (`xid8`) is not here, because TypeORM does not know that
 * type.
 */
@Entity('events')
export class EventEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') type!: string;
  /** Null for a test, and if the user was erased. */
  @TextOrNull() userId!: string | null;
  /** The body of every request that delivers it; null if its user was erased. */
  @TextOrNull() payload!: string | null;
  /** The number of endpoints to which it was sent when it was accepted. */
  @Column('integer') deliveries!: number;
  @Column('boolean', { name: 'test' }) isTest!: boolean;
  /** The version of its type. */
  @Column('integer') version!: number;
  /** The only client that it is for; null if it is for every client that may see it. */
  @TextOrNull() clientId!: string | null;
  /** The request that published it; null if there was none, as for planned sandbox events. */
  @Column('text', { nullable: true, select: false }) requestId!: string | null;
  @TimeOfInsert() createdAt!: Date;
}

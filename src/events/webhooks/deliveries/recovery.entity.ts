import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RecoveryKind } from './recovery.js';
import { TextOrNull, TimeOfInsert } from '#platform/database/entities/columns.js';

/** A recovery: deliveries between two times (the second exclusive) that were resent, or sent late. */
@Entity('webhook_recoveries')
export class RecoveryEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  clientId!: string;

  @Column('text')
  kind!: RecoveryKind;

  /** Null if there may be several endpoints. */
  @TextOrNull()
  endpointId!: string | null;

  @Column('timestamptz', { name: 'failed_from' })
  from!: Date;

  @Column('timestamptz', { name: 'failed_to' })
  to!: Date;

  /** The number of deliveries that it resent. */
  @Column('integer')
  total!: number;

  @TimeOfInsert()
  createdAt!: Date;
}

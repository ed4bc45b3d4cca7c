import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull, TimeOfInsert } from '#platform/database/entities/columns.js';

/** A recovery: deliveries between two times (the second exclusive) that were resent, or sent late. */
@Entity('webhook_recoveries')
export class RecoveryEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') clientId!: string;
  @Column('text') kind!: RecoveryKind;
  /** Null if there may be several endpoints. */
  @TextOrNull() endpointId!: string | null;
  @Column('timestamptz', { name: 'failed_from' }) from!: Date;
  @Column('timestamptz', { name: 'failed_to' }) to!: Date;
  /** The number of deliveries that it resent. */
  @Column('integer') total!: number;
  @TimeOfInsert() createdAt!: Date;
}

/** What was resent: all failures, matches of a filter, chosen deliveries, or what an endpoint missed while disabled. */
type RecoveryKind = 'failed' | 'matching' | 'selected' | 'missed';

/** A recovery: deliveries between two times, resent; with its progress. */
export interface Recovery {
  id: string;
  kind: RecoveryKind;
  /** Null if there may be several endpoints. */
  endpointId: string | null;
  from: Date;
  to: Date;
  total: number;
  pending: number;
  delivered: number;
  failed: number;
  cancelled: number;
  createdAt: Date;
}

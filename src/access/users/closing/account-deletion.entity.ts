import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert } from '#platform/database/entities/columns.js';

/** An account that its owner wants deleted (contract §13). */
@Entity('account_deletions')
export class AccountDeletionEntity {
  @PrimaryColumn('text') userId!: string;
  @TimeOfInsert() requestedAt!: Date;
  /** Until then its owner can keep it. */
  @Column('timestamptz') dueAt!: Date;
  /** Until when another instance leaves it alone. */
  @Column({ type: 'timestamptz', insert: false }) leaseUntil!: Date;
}

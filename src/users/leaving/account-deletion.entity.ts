import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An account that its owner wants deleted (contract §13). */
@Entity('account_deletions')
export class AccountDeletionEntity {
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  @Column({ type: 'timestamptz', name: 'requested_at', insert: false, update: false })
  requestedAt!: Date;

  /** Until then its owner can keep it. */
  @Column('timestamptz', { name: 'due_at' })
  dueAt!: Date;

  /** Until when another instance leaves it alone. */
  @Column({ type: 'timestamptz', name: 'lease_until', insert: false })
  leaseUntil!: Date;
}

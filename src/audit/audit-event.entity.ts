import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An entry of the audit log: who did what, to what, when, from where, and the state before and after. */
@Entity('audit_events')
export class AuditEventEntity {
  /** Assigned by the database, by its clock: the order of the log. */
  @PrimaryColumn('text', { insert: false, update: false })
  id!: string;

  @Column({ type: 'timestamptz', name: 'occurred_at', insert: false, update: false })
  occurredAt!: Date;

  @Column('text', { name: 'actor_type' })
  actorType!: 'user' | 'client' | 'service';

  @Column('text', { name: 'actor_id', nullable: true })
  actorId!: string | null;

  @Column('text')
  action!: string;

  @Column('text', { name: 'subject_type' })
  subjectType!: string;

  @Column('text', { name: 'subject_id' })
  subjectId!: string;

  @Column('text', { nullable: true })
  address!: string | null;

  @Column('text', { name: 'request_id', nullable: true })
  requestId!: string | null;

  @Column('jsonb', { nullable: true })
  before!: Record<string, unknown> | null;

  @Column('jsonb', { nullable: true })
  after!: Record<string, unknown> | null;
}

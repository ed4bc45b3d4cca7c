import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull, TimeOfInsert } from '#platform/database/entities/columns.js';

/** An entry of the audit log: who did what, to what, when, from where, and the state before and after. */
@Entity('audit_events')
export class AuditEventEntity {
  /** Assigned by the database, by its clock: the order of the log. */
  @PrimaryColumn('text', { insert: false, update: false }) id!: string;
  @TimeOfInsert() occurredAt!: Date;
  @Column('text') actorType!: 'user' | 'client' | 'service';
  @TextOrNull() actorId!: string | null;
  @Column('text') action!: string;
  @Column('text') subjectType!: string;
  @Column('text') subjectId!: string;
  @TextOrNull() address!: string | null;
  @TextOrNull() requestId!: string | null;
  @Column('jsonb', { nullable: true }) before!: Record<string, unknown> | null;
  @Column('jsonb', { nullable: true }) after!: Record<string, unknown> | null;
}

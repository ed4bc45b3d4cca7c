import type { AuditEventEntity } from '../audit/audit-event.entity.js';

/** An entry of the audit log on the wire. */
export interface AuditEventView {
  id: string;
  occurred_at: string;
  actor_type: 'user' | 'client' | 'service';
  actor_id: string | null;
  action: string;
  subject_type: string;
  subject_id: string;
  address: string | null;
  request_id: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

export const auditEventView = (event: AuditEventEntity): AuditEventView => ({
  id: event.id,
  occurred_at: event.occurredAt.toISOString(),
  actor_type: event.actorType,
  actor_id: event.actorId,
  action: event.action,
  subject_type: event.subjectType,
  subject_id: event.subjectId,
  address: event.address,
  request_id: event.requestId,
  before: event.before,
  after: event.after,
});

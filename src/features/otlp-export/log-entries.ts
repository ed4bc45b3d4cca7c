import type { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import type { RequestRecordEntity } from '#records/requests/request-record.entity.js';
import type { LogEntry } from './log-exporter.js';

/** An entry of the audit log: what `operator audit` writes. */
export const auditEntry = (event: AuditEventEntity): LogEntry => ({
  event: 'audit.entry',
  at: event.occurredAt,
  severity: 'INFO',
  body: `${event.action} ${event.subjectId}`,
  attributes: {
    // Lets the receiver recognize duplicates.
    'log.record.uid': event.id,
    'audit.action': event.action,
    'audit.actor.type': event.actorType,
    'audit.actor.id': event.actorId,
    'audit.subject.type': event.subjectType,
    'audit.subject.id': event.subjectId,
    'audit.before': event.before,
    'audit.after': event.after,
    'client.address': event.address,
    'request.id': event.requestId,
  },
});

/** A refused request: what `operator refusals` writes. */
export const refusalEntry = (record: RequestRecordEntity): LogEntry => ({
  event: 'request.refused',
  at: record.occurredAt,
  severity: record.status >= 500 ? 'ERROR' : 'WARN',
  body: [record.method, record.route, record.status, record.refused ?? record.error ?? '']
    .join(' ')
    .trimEnd(),
  attributes: {
    'log.record.uid': `refusal-${record.id}`,
    'request.id': record.requestId,
    'http.request.method': record.method,
    'http.route': record.route,
    'http.response.status_code': record.status,
    'error.type': record.error ?? String(record.status),
    'oauth.client.id': record.clientId,
    'refusal.kind': record.refusedKind,
    'refusal.reason': record.refused,
    'refusal.milliseconds': record.milliseconds,
    'refusal.injected': record.injected,
  },
});

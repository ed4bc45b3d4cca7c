import { ApiSchema } from '@nestjs/swagger';
import type { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { idOf, oneOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';

const FREE = { type: 'object', nullable: true, additionalProperties: true } as const;

/** An entry of the audit log on the wire. */
@ApiSchema({ name: 'AuditEvent' })
export class AuditEventView extends viewOf<AuditEventEntity>()({
  id: idOf('audt'),
  occurred_at: time(),
  actor_type: oneOf('user', 'client', 'service'),
  actor_id: orNull(text()),
  action: text(),
  subject_type: text(),
  subject_id: text(),
  address: orNull(text()),
  request_id: orNull(text()),
  before: FREE,
  after: FREE,
}) {}

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, orNull, text, time } from '../../../http/api/api-schemas.js';
import type { AuditEventEntity } from '../../../audit/audit-event.entity.js';

const FREE = { type: 'object', nullable: true, additionalProperties: true } as const;

/** An entry of the audit log on the wire. */
@ApiSchema({ name: 'AuditEvent' })
export class AuditEventView {
  @ApiProperty(idOf('audt'))
  id!: string;

  @ApiProperty(time())
  occurred_at!: string;

  @ApiProperty(oneOf('user', 'client', 'service'))
  actor_type!: 'user' | 'client' | 'service';

  @ApiProperty(orNull(text()))
  actor_id!: string | null;

  @ApiProperty(text())
  action!: string;

  @ApiProperty(text())
  subject_type!: string;

  @ApiProperty(text())
  subject_id!: string;

  @ApiProperty(orNull(text()))
  address!: string | null;

  @ApiProperty(orNull(text()))
  request_id!: string | null;

  @ApiProperty(FREE)
  before!: Record<string, unknown> | null;

  @ApiProperty(FREE)
  after!: Record<string, unknown> | null;
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

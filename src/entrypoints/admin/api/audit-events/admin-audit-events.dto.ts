import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { AuditFilter } from '#records/audit/audit.service.js';
import { PageQuery } from '#platform/http/api/page-query.js';
import {
  IsOptionalNotNull,
  IsText,
  IsTime,
  IsTimeOrDay,
} from '#platform/http/validation/validation.decorators.js';
import type { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { idOf, oneOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { timeInUtc } from '#platform/web/forms/utc-time.js';
import { viewOf } from '#platform/http/api/view-of.js';

/** What a list of audit events is filtered by, except the time; all given members must match. */
abstract class AuditEventsFilter extends PageQuery {
  @ApiProperty({ description: 'The id of the actor.' }) @IsOptionalNotNull() @IsText(1, 200) actor?: string;

  @ApiProperty({ description: 'The id of the subject; for a scope, its name.' })
  @IsOptionalNotNull()
  @IsText(1, 200)
  subject?: string;

  @IsOptionalNotNull() @IsText(1, 200) action?: string;

  @ApiProperty({ description: 'The `X-Request-Id` of the request that caused it.' })
  @IsOptionalNotNull()
  @IsText(1, 128)
  request_id?: string;
}

/** Query of `GET /admin/audit_events`. */
export class AuditEventsQuery extends AuditEventsFilter {
  @ApiProperty({ description: 'The earliest time, inclusive.' })
  @IsOptionalNotNull()
  @IsTime()
  since?: string;
}

/** The same in the console, where people type it. */
export class ConsoleAuditEventsQuery extends AuditEventsFilter {
  @IsOptionalNotNull() @IsTimeOrDay() since?: string;
}

/** The filter that the query asks for. */
export const auditFilterOf = ({
  actor,
  subject,
  action,
  request_id,
  since,
}: AuditEventsQuery): AuditFilter => ({
  actor,
  subject,
  action,
  requestId: request_id,
  since: since === undefined ? undefined : timeInUtc(since),
});

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

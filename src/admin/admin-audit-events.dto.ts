import { PageQuery } from '../http/paging.js';
import { IsText, IsTime, MayBeLeftOut } from '../http/member-rules.decorator.js';

/** Query of `GET /admin/audit_events`; each member narrows the list. */
export class AuditEventsQuery extends PageQuery {
  /** The id of who did it. */
  @MayBeLeftOut()
  @IsText(1, 200)
  actor?: string;

  /** The id of what it was done to; a scope's name. */
  @MayBeLeftOut()
  @IsText(1, 200)
  subject?: string;

  @MayBeLeftOut()
  @IsText(1, 200)
  action?: string;

  /** The earliest moment, itself included. */
  @MayBeLeftOut()
  @IsTime()
  since?: string;
}

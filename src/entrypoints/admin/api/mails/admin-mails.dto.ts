import { IsIdOf, IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import { PageQuery } from '#platform/http/api/page-query.js';
import { MAIL_STATES, type MailState } from '#records/mail/mail.entity.js';

/** Query of `GET /admin/mails`; all given members must match. */
export class MailsQuery extends PageQuery {
  @IsOptionalNotNull() @IsIdOf('user', 'user') user_id?: string;
  @IsOptionalNotNull() @IsOneOf(...MAIL_STATES) state?: MailState;
}

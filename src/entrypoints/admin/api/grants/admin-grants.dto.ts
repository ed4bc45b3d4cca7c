import { PageQuery } from '#platform/http/api/page-query.js';
import { IsIdOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';

/** Query of `GET /admin/grants`; all given members must match. */
export class GrantsQuery extends PageQuery {
  @IsOptionalNotNull()
  @IsIdOf('clnt', 'client')
  client_id?: string;

  @IsOptionalNotNull()
  @IsIdOf('user', 'user')
  user_id?: string;
}

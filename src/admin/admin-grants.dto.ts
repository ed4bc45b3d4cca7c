import { PageQuery } from '../http/paging.js';
import { IsIdOf, MayBeLeftOut } from '../http/member-rules.decorator.js';

/** Query of `GET /admin/grants`; each member narrows the list. */
export class GrantsQuery extends PageQuery {
  @MayBeLeftOut()
  @IsIdOf('clnt', 'client')
  client_id?: string;

  @MayBeLeftOut()
  @IsIdOf('user', 'user')
  user_id?: string;
}

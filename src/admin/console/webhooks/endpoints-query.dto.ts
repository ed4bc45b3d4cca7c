import { IsIdOf, IsOneOf, MayBeLeftOut } from '../../../http/member-rules.decorator.js';
import { PageQuery } from '../../../http/paging.js';

/** Query of the console's list of endpoints; each member narrows it. */
export class EndpointsQuery extends PageQuery {
  @MayBeLeftOut()
  @IsIdOf('clnt', 'client')
  client_id?: string;

  @MayBeLeftOut()
  @IsOneOf('disabled')
  state?: 'disabled';
}

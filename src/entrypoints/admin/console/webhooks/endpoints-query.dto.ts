import { IsIdOf, IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import { PageQuery } from '#platform/http/api/page-query.js';

/** Query of the console's list of endpoints; all given members must match. */
export class EndpointsQuery extends PageQuery {
  @IsOptionalNotNull()
  @IsIdOf('clnt', 'client')
  client_id?: string;

  @IsOptionalNotNull()
  @IsOneOf('disabled', 'failing')
  state?: 'disabled' | 'failing';
}

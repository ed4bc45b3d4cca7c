import { PageQuery } from '#platform/http/api/page-query.js';
import {
  AreVisibleLines,
  IsIdOf,
  IsOneOf,
  IsOptionalNotNull,
} from '#platform/http/validation/validation.decorators.js';
import { REDIRECT_URI_REQUEST_STATES, type RedirectUriRequestState } from './redirect-uri-request.entity.js';

/** Query of `GET /admin/redirect_uri_requests`; all given members must match. */
export class RedirectUriRequestsQuery extends PageQuery {
  @IsOptionalNotNull()
  @IsOneOf(...REDIRECT_URI_REQUEST_STATES)
  state?: RedirectUriRequestState;

  @IsOptionalNotNull()
  @IsIdOf('clnt', 'client')
  client_id?: string;
}

/** Body of `POST /admin/redirect_uri_requests/{id}/reject`. */
export class RejectionDto {
  @IsOptionalNotNull()
  @AreVisibleLines(1, 300)
  reason?: string;
}

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, orNull, text, time } from '../../../http/api/api-schemas.js';
import {
  REDIRECT_URI_REQUEST_STATES,
  type RedirectUriRequestEntity,
  type RedirectUriRequestState,
} from '../../../partners/redirect-uris/redirect-uri-request.entity.js';

/** Who decided, as in the audit log. */
@ApiSchema({ name: 'RedirectUriRequestDecider' })
class DeciderView {
  @ApiProperty(oneOf('user', 'client', 'service'))
  type!: 'user' | 'client' | 'service';

  @ApiProperty(orNull(text('Null for the service itself.')))
  id!: string | null;
}

/** A redirect URI that a partner asked to register or to remove, on the wire. */
@ApiSchema({ name: 'RedirectUriRequest' })
export class RedirectUriRequestView {
  @ApiProperty(idOf('ruri'))
  id!: string;

  @ApiProperty(idOf('clnt'))
  client_id!: string;

  @ApiProperty(oneOf('add', 'remove'))
  action!: 'add' | 'remove';

  @ApiProperty(text(undefined, { example: 'https://partner.example/callback' }))
  uri!: string;

  @ApiProperty(oneOf(...REDIRECT_URI_REQUEST_STATES))
  state!: RedirectUriRequestState;

  @ApiProperty(orNull(text('Why it was rejected, if someone said so.')))
  reason!: string | null;

  @ApiProperty(idOf('user', 'The member who asked.'))
  requested_by!: string;

  @ApiProperty(time())
  requested_at!: string;

  @ApiProperty({ type: DeciderView, nullable: true })
  decided_by!: DeciderView | null;

  @ApiProperty(orNull(time()))
  decided_at!: string | null;
}

export const redirectUriRequestView = (request: RedirectUriRequestEntity): RedirectUriRequestView => ({
  id: request.id,
  client_id: request.clientId,
  action: request.action,
  uri: request.uri,
  state: request.state,
  reason: request.reason,
  requested_by: request.requestedBy,
  requested_at: request.requestedAt.toISOString(),
  decided_by:
    request.decidedByType === null ? null : { type: request.decidedByType, id: request.decidedById },
  decided_at: request.decidedAt?.toISOString() ?? null,
});

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import {
  REDIRECT_URI_REQUEST_STATES,
  type RedirectUriRequestEntity,
} from '#events/partners/redirect-uris/redirect-uri-request.entity.js';

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
export class RedirectUriRequestView extends viewOf<RedirectUriRequestEntity>()({
  id: idOf('ruri'),
  client_id: idOf('clnt'),
  action: oneOf('add', 'remove'),
  uri: text(undefined, { example: 'https://partner.example/callback' }),
  state: oneOf(...REDIRECT_URI_REQUEST_STATES),
  reason: orNull(text('Why it was rejected, if someone said so.')),
  requested_by: idOf('user', 'The member who asked.'),
  requested_at: time(),
  decided_by: [
    { type: DeciderView, nullable: true },
    ({ decidedByType, decidedById }) =>
      decidedByType === null ? null : { type: decidedByType, id: decidedById },
  ],
  decided_at: orNull(time()),
}) {}

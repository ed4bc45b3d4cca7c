import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { text } from '#platform/http/api/api-schemas.js';
import { ENDPOINT } from '#events/webhooks/endpoints/endpoint.resource.js';

/** A webhook endpoint on the wire, without its secret; `disabled_reason` is null unless the service disabled it. */
@ApiSchema({ name: 'WebhookEndpoint' })
export class EndpointView extends ENDPOINT.viewClass() {}

/** An endpoint in the response that created it. */
@ApiSchema({ name: 'NewWebhookEndpoint' })
export class NewEndpointView extends EndpointView {
  @ApiProperty(
    text('Shown only once.', { pattern: '^whsec_', example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }),
  )
  secret!: string;
}

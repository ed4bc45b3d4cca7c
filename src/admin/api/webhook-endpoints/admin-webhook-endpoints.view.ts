import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { flag, idOf, listOf, orNull, text, time, url, whole } from '../../../http/api/api-schemas.js';
import type { EndpointDisabledReason } from '../../../webhooks/endpoints/endpoint.entity.js';
import type { ListedEndpoint } from '../../../webhooks/endpoints/endpoint-in-list.js';

/** A webhook endpoint on the wire, without its secret; `disabled_reason` is null unless the service disabled it. */
@ApiSchema({ name: 'WebhookEndpoint' })
export class EndpointView {
  @ApiProperty(idOf('endp'))
  id!: string;

  @ApiProperty(idOf('clnt'))
  client_id!: string;

  @ApiProperty(url())
  url!: string;

  @ApiProperty(text())
  description!: string;

  @ApiProperty(listOf(text(), { example: ['vehicle.updated'] }))
  event_types!: string[];

  @ApiProperty(flag())
  enabled!: boolean;

  @ApiProperty(orNull(whole('The most attempts that start in a minute.')))
  max_per_minute!: number | null;

  @ApiProperty(listOf(text(), { description: 'The names of its own headers.', example: ['x-tenant'] }))
  headers!: string[];

  @ApiProperty(
    orNull(text('Why the service disabled it: `gone` (410) or `failing` (five days without a success).')),
  )
  disabled_reason!: EndpointDisabledReason | null;

  @ApiProperty(orNull(time()))
  disabled_at!: string | null;

  @ApiProperty(orNull(time()))
  last_attempt_at!: string | null;

  @ApiProperty(orNull(time('The first failed attempt since the last success.')))
  failing_since!: string | null;

  @ApiProperty(time())
  created_at!: string;

  @ApiProperty(time())
  updated_at!: string;
}

/** An endpoint in the response that created it. */
@ApiSchema({ name: 'NewWebhookEndpoint' })
export class NewEndpointView extends EndpointView {
  @ApiProperty(
    text('Shown only once.', { pattern: '^whsec_', example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }),
  )
  secret!: string;
}

export const endpointView = (endpoint: ListedEndpoint): EndpointView => ({
  id: endpoint.id,
  client_id: endpoint.clientId,
  url: endpoint.url,
  description: endpoint.description,
  event_types: endpoint.eventTypes,
  enabled: endpoint.enabled,
  max_per_minute: endpoint.maxPerMinute,
  headers: endpoint.headerNames,
  disabled_reason: endpoint.disabledReason,
  disabled_at: endpoint.disabledAt?.toISOString() ?? null,
  last_attempt_at: endpoint.lastAttemptAt?.toISOString() ?? null,
  failing_since: endpoint.failingSince?.toISOString() ?? null,
  created_at: endpoint.createdAt.toISOString(),
  updated_at: endpoint.updatedAt.toISOString(),
});

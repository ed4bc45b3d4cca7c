import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import {
  Fixed,
  IsJsonObject,
  IsOptionalNotNull,
  MayBeNull,
} from '#platform/http/validation/validation.decorators.js';
import type { HeaderChanges } from '#events/webhooks/endpoints/endpoint-headers.js';
import {
  GIVEN_CREDENTIALS,
  type GivenCredentials,
} from '#events/webhooks/receiver-tokens/client-credentials.js';
import {
  ENDPOINT,
  type EndpointChanges,
  type NewEndpoint,
} from '#events/webhooks/endpoints/endpoint.resource.js';

const Headers = (description: string): PropertyDecorator =>
  applyDecorators(
    IsJsonObject(),
    IsOptionalNotNull(),
    ApiProperty({
      description,
      // Null is allowed where the header is there already.
      additionalProperties: { type: ['string', 'null'] } as never,
      example: { 'x-tenant': 'northwind' },
    }),
  );

const Authentication = (description: string): PropertyDecorator =>
  applyDecorators(IsJsonObject(), MayBeNull(), ApiProperty({ ...GIVEN_CREDENTIALS, description } as never));

/** Body of `POST /admin/clients/{client_id}/webhook_endpoints`. */
export class NewEndpointDto extends ENDPOINT.newBody() {
  @Headers('Up to 10 headers of its own that each attempt carries; responses show their names only.')
  headers?: HeaderChanges;

  @Authentication(
    'Of a receiver behind OAuth: each attempt carries a token that the client credentials grant gives at `token_url`. Not together with a header `authorization`.',
  )
  authentication?: GivenCredentials | null;
}

/** Body of `PATCH /admin/webhook_endpoints/{id}`: omitted members stay unchanged. */
export class EndpointChangesDto extends ENDPOINT.changesBody() {
  @Headers('All headers of its own; null keeps the value that one has.') headers?: HeaderChanges;

  @Authentication(
    'The whole of it, or null for none. Without `client_secret` the present one is kept, if `token_url` and `client_id` stay as they are.',
  )
  authentication?: GivenCredentials | null;

  @Fixed('endpoint') client_id?: never;
}

export const toNewEndpoint = (body: NewEndpointDto): NewEndpoint => ({
  ...ENDPOINT.newOf(body),
  headers: body.headers,
  authentication: body.authentication,
});

export const toEndpointChanges = (body: EndpointChangesDto): EndpointChanges => ({
  ...ENDPOINT.changesOf(body),
  headers: body.headers,
  authentication: body.authentication,
});

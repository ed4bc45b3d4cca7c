import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Fixed, IsJsonObject, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import type { HeaderChanges } from '#events/webhooks/endpoints/endpoint-headers.js';
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

/** Body of `POST /admin/clients/{client_id}/webhook_endpoints`. */
export class NewEndpointDto extends ENDPOINT.newBody() {
  @Headers('Up to 10 headers of its own that each attempt carries; responses show their names only.')
  headers?: HeaderChanges;
}

/** Body of `PATCH /admin/webhook_endpoints/{id}`: omitted members stay unchanged. */
export class EndpointChangesDto extends ENDPOINT.changesBody() {
  @Headers('All headers of its own; null keeps the value that one has.') headers?: HeaderChanges;
  @Fixed('endpoint') client_id?: never;
}

export const toNewEndpoint = (body: NewEndpointDto): NewEndpoint => ({
  ...ENDPOINT.newOf(body),
  headers: body.headers,
});

export const toEndpointChanges = (body: EndpointChangesDto): EndpointChanges => ({
  ...ENDPOINT.changesOf(body),
  headers: body.headers,
});

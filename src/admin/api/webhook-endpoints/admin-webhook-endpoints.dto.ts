import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import {
  Fixed,
  IsJsonObject,
  IsLine,
  IsListOfDifferent,
  IsText,
  IsTrueOrFalse,
  IsOptionalNotNull,
  IsWholeNumber,
  MayBeNull,
} from '../../../http/validation/validation.decorators.js';
import type { HeaderChanges } from '../../../webhooks/endpoints/endpoint-headers.js';
import type { EndpointChanges, NewEndpoint } from '../../../webhooks/endpoints/endpoint-changes.js';
import { violation } from '../../../http/problems/violation.js';

const IsEventTypeList = (): PropertyDecorator => IsListOfDifferent(1, 50, violation('event_types'));

const MaxPerMinute = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description: 'The most attempts that start in a minute; null without a limit.',
      example: 60,
    }),
    MayBeNull(),
    IsWholeNumber(1, 6000, 'or null'),
  );

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
export class NewEndpointDto {
  @ApiProperty({ description: 'A public https URL.', example: 'https://hooks.example.com/charging' })
  @IsText(1, 2048)
  url!: string;

  @IsOptionalNotNull()
  @IsLine(0, 200)
  description?: string;

  @IsEventTypeList()
  event_types!: string[];

  @IsOptionalNotNull()
  @IsTrueOrFalse()
  enabled?: boolean;

  @MaxPerMinute()
  max_per_minute?: number | null;

  @Headers('Up to 10 headers of its own that each attempt carries; responses show their names only.')
  headers?: HeaderChanges;
}

/** Body of `PATCH /admin/webhook_endpoints/{id}`: omitted members stay unchanged. */
export class EndpointChangesDto {
  @ApiProperty({ description: 'A public https URL.', example: 'https://hooks.example.com/charging' })
  @IsOptionalNotNull()
  @IsText(1, 2048)
  url?: string;

  @IsOptionalNotNull()
  @IsLine(0, 200)
  description?: string;

  @IsOptionalNotNull()
  @IsEventTypeList()
  event_types?: string[];

  @IsOptionalNotNull()
  @IsTrueOrFalse()
  enabled?: boolean;

  @MaxPerMinute()
  max_per_minute?: number | null;

  @Headers('All headers of its own; null keeps the value that one has.')
  headers?: HeaderChanges;

  @Fixed('endpoint')
  client_id?: never;
}

export const toNewEndpoint = (body: NewEndpointDto): NewEndpoint => ({
  url: body.url,
  description: body.description,
  eventTypes: body.event_types,
  enabled: body.enabled,
  maxPerMinute: body.max_per_minute,
  headers: body.headers,
});

export const toEndpointChanges = (body: EndpointChangesDto): EndpointChanges => ({
  url: body.url,
  description: body.description,
  eventTypes: body.event_types,
  enabled: body.enabled,
  maxPerMinute: body.max_per_minute,
  headers: body.headers,
});

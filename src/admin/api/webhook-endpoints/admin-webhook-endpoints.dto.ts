import { ApiProperty } from '@nestjs/swagger';
import {
  IsLine,
  IsListOfDifferent,
  IsText,
  IsTrueOrFalse,
  IsOptionalNotNull,
  NeverAccepted,
} from '../../../http/validation/validation.decorators.js';
import type { EndpointChanges, NewEndpoint } from '../../../webhooks/endpoints/endpoints.service.js';

const IsEventTypeList = (): PropertyDecorator =>
  IsListOfDifferent(1, 50, 'must be a list of one or more event types, each once');

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

  @NeverAccepted('cannot be changed after the endpoint was created')
  client_id?: never;
}

export const toNewEndpoint = (body: NewEndpointDto): NewEndpoint => ({
  url: body.url,
  description: body.description,
  eventTypes: body.event_types,
  enabled: body.enabled,
});

export const toEndpointChanges = (body: EndpointChangesDto): EndpointChanges => ({
  url: body.url,
  description: body.description,
  eventTypes: body.event_types,
  enabled: body.enabled,
});

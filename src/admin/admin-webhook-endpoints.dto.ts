import { ApiHideProperty } from '@nestjs/swagger';
import {
  IsListOfDifferent,
  IsText,
  IsTrueOrFalse,
  MayBeLeftOut,
  NeverAccepted,
} from '../http/member-rules.decorator.js';
import type { EndpointChanges, NewEndpoint } from '../webhooks/endpoints/endpoints.service.js';

const IsEventTypeList = (): PropertyDecorator =>
  IsListOfDifferent(1, 50, 'must be a list of one or more event types, each once');

/** Body of `POST /admin/clients/{client_id}/webhook_endpoints`. */
export class NewEndpointDto {
  @IsText(1, 2048)
  url!: string;

  @MayBeLeftOut()
  @IsText(0, 200)
  description?: string;

  @IsEventTypeList()
  event_types!: string[];

  @MayBeLeftOut()
  @IsTrueOrFalse()
  enabled?: boolean;
}

/** Body of `PATCH /admin/webhook_endpoints/{id}`: what is left out stays as it is. */
export class EndpointChangesDto {
  @MayBeLeftOut()
  @IsText(1, 2048)
  url?: string;

  @MayBeLeftOut()
  @IsText(0, 200)
  description?: string;

  @MayBeLeftOut()
  @IsEventTypeList()
  event_types?: string[];

  @MayBeLeftOut()
  @IsTrueOrFalse()
  enabled?: boolean;

  @ApiHideProperty()
  @NeverAccepted('cannot be changed after the endpoint was made')
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

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import {
  AreVisibleLines,
  IsJsonObject,
  IsOptionalNotNull,
  IsText,
  IsTrueOrFalse,
  MayBeNull,
} from '#platform/http/validation/validation.decorators.js';
import { TRANSLATIONS } from '../scopes/admin-scopes.dto.js';
import { flag, oneOf, orNull, text, whole } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type {
  EventTypeVersionEntity,
  VersionedEventType,
} from '#events/webhooks/event-types/event-type.entity.js';
import { inOrder } from '#access/scopes/translations.js';

/** Body of `PUT /admin/event_types/{name}`. */
export class EventTypeDto {
  @ApiProperty({ description: 'When it is sent.' }) @AreVisibleLines(1, 300) description!: string;
  @ApiProperty(TRANSLATIONS) @IsOptionalNotNull() @IsJsonObject() translations?: Record<string, unknown>;

  @ApiProperty({ description: 'What client and consent need.', example: 'vehicle:read' })
  @IsText(1, 64)
  scope!: string;

  @ApiProperty({ description: 'An example of `data`.' }) @IsJsonObject() sample!: Record<string, unknown>;

  @ApiProperty({
    description:
      'JSON Pointer into `data` to the id of what the event is about; by default its events are not numbered.',
    example: '/id',
  })
  @MayBeNull()
  @IsText(1, 200)
  resource?: string | null;
}

/** Body of `PUT /admin/event_types/{name}/versions/{version}`. */
export class EventTypeVersionDto {
  @ApiProperty({ description: 'A JSON Schema (2020-12) of `data`, without references to anything outside.' })
  @IsJsonObject()
  schema!: Record<string, unknown>;

  @ApiProperty({ description: 'Nothing is published with a draft, and it is not public.' })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  draft?: boolean;

  @ApiProperty({ description: 'A new sample of the type, if the schema does not fit the one that it has.' })
  @IsOptionalNotNull()
  @IsJsonObject()
  sample?: Record<string, unknown>;
}

const free = (description: string) => ({ type: 'object' as const, additionalProperties: true, description });

/** A version of an event type on the wire. */
@ApiSchema({ name: 'EventTypeVersion' })
export class EventTypeVersionView extends viewOf<EventTypeVersionEntity>()({
  version: whole(undefined, { minimum: 1 }),
  schema: free('The JSON Schema (2020-12) of `data`.'),
  draft: flag('Nothing is published with a draft, and it is not public.'),
  used: [
    flag('Whether events were published with it: then it does not change.'),
    ({ usedAt }) => usedAt !== null,
  ],
}) {}

/** An event type on the wire. */
@ApiSchema({ name: 'EventType' })
export class EventTypeView extends viewOf<VersionedEventType>()({
  name: text(undefined, { example: 'charging_session.created' }),
  description: text('When it is sent.'),
  translations: [
    { ...TRANSLATIONS, description: 'The description in other languages.' },
    ({ translations }) => inOrder(translations),
  ],
  scope: orNull(text('What client and consent need; null: it concerns the client alone.')),
  publisher: oneOf('services', 'itself'),
  sample: free('An example of `data`.'),
  resource: orNull(text('JSON Pointer into `data` to the id of what the event is about.')),
  versions: [
    { type: [EventTypeVersionView], description: 'The oldest first.' },
    ({ versions }) => versions.map(EventTypeVersionView.of),
  ],
}) {}

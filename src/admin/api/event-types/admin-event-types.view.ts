import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { flag, oneOf, orNull, text, whole } from '../../../http/api/api-schemas.js';
import type { EventTypeVersionEntity } from '../../../webhooks/event-types/event-type-version.entity.js';
import { inOrder, type Translations } from '../../../scopes/translations.js';
import { TRANSLATIONS } from '../scopes/admin-scopes.dto.js';
import type { VersionedEventType } from '../../../webhooks/event-types/versioned-event-type.js';

const free = (description: string) => ({ type: 'object' as const, additionalProperties: true, description });

/** A version of an event type on the wire. */
@ApiSchema({ name: 'EventTypeVersion' })
export class EventTypeVersionView {
  @ApiProperty(whole(undefined, { minimum: 1 }))
  version!: number;

  @ApiProperty(free('The JSON Schema (2020-12) of `data`.'))
  schema!: object;

  @ApiProperty(flag('Nothing is published with a draft, and it is not public.'))
  draft!: boolean;

  @ApiProperty(flag('Whether events were published with it: then it does not change.'))
  used!: boolean;
}

/** An event type on the wire. */
@ApiSchema({ name: 'EventType' })
export class EventTypeView {
  @ApiProperty(text(undefined, { example: 'charging_session.created' }))
  name!: string;

  @ApiProperty(text('When it is sent.'))
  description!: string;

  @ApiProperty({ ...TRANSLATIONS, description: 'The description in other languages.' })
  translations!: Translations;

  @ApiProperty(orNull(text('What client and consent need; null: it concerns the client alone.')))
  scope!: string | null;

  @ApiProperty(oneOf('services', 'itself'))
  publisher!: 'services' | 'itself';

  @ApiProperty(free('An example of `data`.'))
  sample!: object;

  @ApiProperty(orNull(text('JSON Pointer into `data` to the id of what the event is about.')))
  resource!: string | null;

  @ApiProperty({ type: [EventTypeVersionView], description: 'The oldest first.' })
  versions!: EventTypeVersionView[];
}

export const eventTypeVersionView = (version: EventTypeVersionEntity): EventTypeVersionView => ({
  version: version.version,
  schema: version.schema,
  draft: version.draft,
  used: version.usedAt !== null,
});

export const eventTypeView = (type: VersionedEventType): EventTypeView => ({
  name: type.name,
  description: type.description,
  translations: inOrder(type.translations),
  scope: type.scope,
  publisher: type.publisher,
  sample: type.sample,
  resource: type.resource,
  versions: type.versions.map(eventTypeVersionView),
});

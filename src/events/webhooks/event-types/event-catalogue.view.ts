import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { orNull, text, url, whole } from '#platform/http/api/api-schemas.js';
import { currentVersion, type VersionedEventType } from './versioned-event-type.js';

/** A type of the public catalogue. */
@ApiSchema({ name: 'PublicEventType' })
export class PublicEventTypeView {
  @ApiProperty(text(undefined, { example: 'charging_session.created' }))
  name!: string;

  @ApiProperty(text('When it is sent.'))
  description!: string;

  @ApiProperty(orNull(text('What client and consent need; null: it concerns the client alone.')))
  scope!: string | null;

  @ApiProperty(whole('What is published now.', { minimum: 1 }))
  version!: number;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'An example of `data`.' })
  sample!: object;

  @ApiProperty(url('The JSON Schema of `data`.'))
  schema_url!: string;
}

/** A type that has a version. */
export function publicEventTypeView(type: VersionedEventType, baseUrl: string): PublicEventTypeView {
  const { name, description, scope, sample } = type;
  const { version } = currentVersion(type)!;
  const schemaUrl = `${baseUrl}/v2/event_types/${name}/versions/${version}/schema`;
  return { name, description, scope, version, sample, schema_url: schemaUrl };
}

import { ApiProperty } from '@nestjs/swagger';
import {
  AreVisibleLines,
  IsJsonObject,
  IsOptionalNotNull,
  IsText,
  IsTrueOrFalse,
  MayBeNull,
} from '#platform/http/validation/validation.decorators.js';
import { TRANSLATIONS } from '../scopes/admin-scopes.dto.js';

/** Body of `PUT /admin/event_types/{name}`. */
export class EventTypeDto {
  @ApiProperty({ description: 'When it is sent.' })
  @AreVisibleLines(1, 300)
  description!: string;

  @ApiProperty(TRANSLATIONS)
  @IsOptionalNotNull()
  @IsJsonObject()
  translations?: Record<string, unknown>;

  @ApiProperty({ description: 'What client and consent need.', example: 'vehicle:read' })
  @IsText(1, 64)
  scope!: string;

  @ApiProperty({ description: 'An example of `data`.' })
  @IsJsonObject()
  sample!: Record<string, unknown>;

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

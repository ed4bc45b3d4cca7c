import { ApiProperty } from '@nestjs/swagger';
import {
  IsIdOf,
  IsJsonObject,
  IsOptionalNotNull,
  IsText,
  IsTime,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';

/** The highest version number that is accepted. */
const VERSION_MAX = 10_000;

/** Body of `POST /v2/events`. */
export class NewEventDto {
  @ApiProperty({
    description: 'A type of the event catalogue that services publish.',
    example: 'charging_session.created',
  })
  @IsText(1, 64)
  type!: string;

  @IsIdOf('user', 'user')
  user_id!: string;

  @ApiProperty({ description: 'RFC 3339: with seconds, and `Z` or an offset.' })
  @IsTime()
  timestamp!: string;

  @ApiProperty({ description: 'The version of the type; by default the newest that is not a draft.' })
  @IsOptionalNotNull()
  @IsWholeNumber(1, VERSION_MAX)
  version?: number;

  @IsJsonObject()
  data!: object;
}

import { ApiProperty } from '@nestjs/swagger';
import { IsJsonObject, IsIdOf, IsText, IsTime } from '../../http/validation/validation.decorators.js';

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

  @ApiProperty({ description: 'ISO 8601, with `Z` or an offset.' })
  @IsTime()
  timestamp!: string;

  @IsJsonObject()
  data!: object;
}

import { IsJsonObject, IsIdOf, IsText, IsTime } from '../../http/validation.decorators.js';

/** Body of `POST /v2/events`. */
export class NewEventDto {
  @IsText(1, 64)
  type!: string;

  @IsIdOf('user', 'user')
  user_id!: string;

  @IsTime()
  timestamp!: string;

  @IsJsonObject()
  data!: object;
}

import { IsBoolean, ValidateIf } from 'class-validator';

const given = (_object: unknown, value: unknown) => value !== undefined;

/** The marks that a partner may set on a notification; `false` changes nothing, because marks cannot be removed. */
export class NotificationMarksDto {
  @ValidateIf(given)
  @IsBoolean({ message: 'must be true or false' })
  read?: boolean;

  @ValidateIf(given)
  @IsBoolean({ message: 'must be true or false' })
  resolved?: boolean;
}

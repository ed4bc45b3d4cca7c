import { IsBoolean, ValidateIf } from 'class-validator';

const given = (_object: unknown, value: unknown) => value !== undefined;

/** What a partner may say of a notification; `false` changes nothing, for neither can be taken back. */
export class NotificationMarksDto {
  @ValidateIf(given)
  @IsBoolean({ message: 'must be true or false' })
  read?: boolean;

  @ValidateIf(given)
  @IsBoolean({ message: 'must be true or false' })
  resolved?: boolean;
}

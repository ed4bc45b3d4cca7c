import { IsOptionalNotNull, IsTrueOrFalse } from '#platform/http/validation/validation.decorators.js';

/** The marks that a partner may set on a notification; `false` changes nothing, because marks cannot be removed. */
export class NotificationMarksDto {
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  read?: boolean;

  @IsOptionalNotNull()
  @IsTrueOrFalse()
  resolved?: boolean;
}

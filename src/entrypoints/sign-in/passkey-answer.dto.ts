import { IsJsonObject, IsOptionalNotNull, IsText } from '#platform/http/validation/validation.decorators.js';

/** Body of `POST /login/passkey`. */
export class PasskeyAnswerDto {
  /** The passkey's answer, as `PublicKeyCredential.toJSON()` writes it. */
  @IsJsonObject()
  response!: object;

  @IsOptionalNotNull()
  @IsText(0, 16_384)
  return_to?: string;
}

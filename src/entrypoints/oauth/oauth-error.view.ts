import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { oneOf, text } from '#platform/http/api/api-schemas.js';
import { OAUTH_ERROR_CODES } from './oauth-error.js';

/** An error of an OAuth endpoint on the wire (RFC 6749 §5.2). */
@ApiSchema({ name: 'OAuthError' })
export class OAuthErrorView {
  @ApiProperty(oneOf(...OAUTH_ERROR_CODES))
  error!: string;

  @ApiProperty(text())
  error_description!: string;
}

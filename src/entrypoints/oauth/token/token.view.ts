import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { oneOf, optional, text, whole } from '#platform/http/api/api-schemas.js';

/** RFC 6749 §5.1. */
@ApiSchema({ name: 'TokenResponse' })
export class TokenResponse {
  @ApiProperty(text())
  access_token!: string;

  @ApiProperty(whole('Seconds.', { example: 3600 }))
  expires_in!: number;

  @ApiProperty(oneOf('Bearer'))
  token_type!: 'Bearer';

  @ApiProperty(
    text('Names of scopes, separated by spaces.', { example: 'charging_session:read vehicle:read' }),
  )
  scope!: string;

  @ApiProperty(optional(text('Absent for client credentials.')))
  refresh_token?: string;

  @ApiProperty(
    optional(
      whole('Seconds until the refresh token ends if it is not used. With `refresh_token`.', {
        example: 2592000,
      }),
    ),
  )
  refresh_token_expires_in?: number;

  @ApiProperty(
    optional(
      whole('Seconds until the user has to authorize the client again. With `refresh_token`.', {
        example: 31536000,
      }),
    ),
  )
  authorization_expires_in?: number;
}

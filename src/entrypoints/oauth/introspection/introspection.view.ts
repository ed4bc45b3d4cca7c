import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { oneOf, optional, text, whole } from '#platform/http/api/api-schemas.js';

/** A token that is not valid (RFC 7662 §2.2): the answer says no more. */
@ApiSchema({ name: 'InactiveToken' })
export class InactiveToken {
  @ApiProperty({ type: 'boolean', enum: [false] })
  active!: false;
}

/** A valid access token (RFC 7662 §2.2); times in seconds since 1970. */
@ApiSchema({ name: 'ActiveToken' })
export class ActiveToken {
  @ApiProperty({ type: 'boolean', enum: [true] })
  active!: true;

  @ApiProperty(text())
  scope!: string;

  @ApiProperty(text())
  client_id!: string;

  @ApiProperty(text('The id of the user; for client credentials that of the client.'))
  sub!: string;

  @ApiProperty(oneOf('authorization_code', 'client_credentials'))
  grant_type!: 'authorization_code' | 'client_credentials';

  @ApiProperty(oneOf('Bearer'))
  token_type!: 'Bearer';

  @ApiProperty(whole())
  exp!: number;

  @ApiProperty(whole())
  iat!: number;

  @ApiProperty(
    optional(
      whole(
        'Seconds until the user has to authorize the client again, as known when the token was issued; only for a user’s token.',
      ),
    ),
  )
  authorization_expires_in?: number;

  @ApiProperty(text())
  iss!: string;
}

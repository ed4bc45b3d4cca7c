import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { DEFAULT_SECRET_OVERLAP_SECONDS } from '#access/clients/client-rules.js';
import { CLIENT } from '#access/clients/client.resource.js';
import { PageQuery } from '#platform/http/api/page-query.js';
import {
  IsOneOf,
  IsOptionalNotNull,
  IsText,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';
import { ENVIRONMENTS, type Environment } from '#access/users/accounts/environment.js';
import { authMethodOf, type AuthMethod, type ClientEntity } from '#access/clients/client.entity.js';
import { optional, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { logoPath } from '#platform/web/layout/brand.js';

/** Query of `GET /admin/clients`. */
export class ClientsQuery extends PageQuery {
  @ApiProperty({ description: 'Part of the name, or a client id.' })
  @IsOptionalNotNull()
  @IsText(1, 200)
  q?: string;

  @IsOptionalNotNull() @IsOneOf(...ENVIRONMENTS) environment?: Environment;
}

/** Body of `POST /admin/clients`. */
export class NewClientDto extends CLIENT.newBody() {}

/** Body of `PATCH /admin/clients/{client_id}`: omitted members stay unchanged. */
export class ClientChangesDto extends CLIENT.changesBody() {}

/** Body of `POST /admin/clients/{client_id}/secrets`. */
export class NewSecretDto {
  @ApiProperty({
    description:
      'Seconds for which the previous secrets stay valid; 0: they expire immediately, and the portal links and sessions of the client end.',
    default: DEFAULT_SECRET_OVERLAP_SECONDS,
  })
  @IsOptionalNotNull()
  @IsWholeNumber(0, 31_536_000)
  expire_previous_in?: number;
}

/** A client on the wire. */
@ApiSchema({ name: 'Client' })
export class ClientView extends CLIENT.viewClass() {
  @ApiProperty(
    orNull(text('Where its logo is served; an operator uploads it in the console.', { format: 'uri' })),
  )
  logo_url!: string | null;

  declare token_endpoint_auth_method: AuthMethod;
}

/** `baseUrl`: the public address of the service. */
export const clientView = (client: ClientEntity, baseUrl: string): ClientView => ({
  ...CLIENT.view(client),
  token_endpoint_auth_method: authMethodOf(client),
  logo_url: client.logoId === null ? null : `${baseUrl}${logoPath(client.logoId)}`,
});

/** A client in the response that created it. */
@ApiSchema({ name: 'NewClient' })
export class NewClientView extends ClientView {
  @ApiProperty(optional(text('Shown only once; a public client and one with keys have none.')))
  client_secret?: string;
}

/** A new client secret on the wire, and when the previous ones expire: null if there were none. */
@ApiSchema({ name: 'NewClientSecret' })
export class NewSecretView {
  @ApiProperty(text()) client_secret!: string;
  @ApiProperty(orNull(time())) previous_secret_expires_at!: string | null;
}

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import {
  flag,
  idOf,
  listOf,
  oneOf,
  optional,
  orNull,
  scopeNames,
  text,
  time,
  whole,
} from '../../../http/api/api-schemas.js';
import {
  CLIENT_TYPES,
  GRANT_TYPES,
  type ClientEntity,
  type ClientType,
  type GrantType,
} from '../../../clients/client.entity.js';
import { ENVIRONMENTS, type Environment } from '../../../users/accounts/environment.js';

/** A client on the wire. */
@ApiSchema({ name: 'Client' })
export class ClientView {
  @ApiProperty(idOf('clnt'))
  client_id!: string;

  @ApiProperty(text(undefined, { example: 'Charge Planner' }))
  name!: string;

  @ApiProperty(oneOf(...CLIENT_TYPES))
  type!: ClientType;

  @ApiProperty(listOf(oneOf(...GRANT_TYPES)))
  grant_types!: GrantType[];

  @ApiProperty(scopeNames())
  scopes!: string[];

  @ApiProperty(listOf(text(), { example: ['https://app.example.com/callback'] }))
  redirect_uris!: string[];

  @ApiProperty(idOf('user'))
  owner_id!: string;

  @ApiProperty(flag())
  enabled!: boolean;

  @ApiProperty(orNull(whole('Requests per hour; null: the limit of the service.')))
  rate_limit!: number | null;

  @ApiProperty(flag('Whether the consent is recorded without a page.'))
  trusted!: boolean;

  @ApiProperty(flag('Whether it is a service of the company, which no operator’s role limits.'))
  company_service!: boolean;

  @ApiProperty(oneOf(...ENVIRONMENTS))
  environment!: Environment;

  @ApiProperty(time())
  created_at!: string;

  @ApiProperty(time())
  updated_at!: string;
}

/** A client in the response that created it. */
@ApiSchema({ name: 'NewClient' })
export class NewClientView extends ClientView {
  @ApiProperty(optional(text('Shown only once; a public client has none.')))
  client_secret?: string;
}

/** A new client secret on the wire, and when the previous ones expire: null if there were none. */
@ApiSchema({ name: 'NewClientSecret' })
export class NewSecretView {
  @ApiProperty(text())
  client_secret!: string;

  @ApiProperty(orNull(time()))
  previous_secret_expires_at!: string | null;
}

export const clientView = (client: ClientEntity): ClientView => ({
  client_id: client.id,
  name: client.name,
  type: client.type,
  grant_types: client.grantTypes,
  scopes: client.scopes,
  redirect_uris: client.redirectUris,
  owner_id: client.ownerId,
  enabled: client.enabled,
  rate_limit: client.rateLimit,
  trusted: client.trusted,
  company_service: client.companyService,
  environment: client.environment,
  created_at: client.createdAt.toISOString(),
  updated_at: client.updatedAt.toISOString(),
});

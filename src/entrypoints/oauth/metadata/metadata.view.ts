import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { flag, listOf, text, url } from '#platform/http/api/api-schemas.js';

const texts = listOf(text());

/** The metadata of the authorization server (RFC 8414). */
@ApiSchema({ name: 'AuthorizationServerMetadata' })
export class MetadataView {
  @ApiProperty(url())
  issuer!: string;

  @ApiProperty(url())
  authorization_endpoint!: string;

  @ApiProperty(url())
  token_endpoint!: string;

  @ApiProperty(url())
  pushed_authorization_request_endpoint!: string;

  @ApiProperty(flag())
  require_pushed_authorization_requests!: boolean;

  @ApiProperty(url())
  revocation_endpoint!: string;

  @ApiProperty(url())
  introspection_endpoint!: string;

  @ApiProperty(texts)
  scopes_supported!: string[];

  @ApiProperty(
    listOf(text(), { description: 'What `resource` may name (RFC 8707): this service, and data services.' }),
  )
  protected_resources!: string[];

  @ApiProperty(texts)
  response_types_supported!: string[];

  @ApiProperty(texts)
  response_modes_supported!: string[];

  @ApiProperty(texts)
  grant_types_supported!: string[];

  @ApiProperty(texts)
  code_challenge_methods_supported!: string[];

  @ApiProperty(texts)
  acr_values_supported!: string[];

  @ApiProperty(texts)
  token_endpoint_auth_methods_supported!: string[];

  @ApiProperty(texts)
  token_endpoint_auth_signing_alg_values_supported!: string[];

  @ApiProperty(texts)
  revocation_endpoint_auth_methods_supported!: string[];

  @ApiProperty(texts)
  revocation_endpoint_auth_signing_alg_values_supported!: string[];

  @ApiProperty(texts)
  introspection_endpoint_auth_methods_supported!: string[];

  @ApiProperty(texts)
  introspection_endpoint_auth_signing_alg_values_supported!: string[];

  @ApiProperty(texts)
  dpop_signing_alg_values_supported!: string[];

  @ApiProperty(flag())
  authorization_response_iss_parameter_supported!: boolean;

  @ApiProperty(texts)
  ui_locales_supported!: string[];

  @ApiProperty(url())
  service_documentation!: string;

  @ApiProperty(listOf(text(), { description: 'Of signed answers of introspection (RFC 9701).' }))
  introspection_signing_alg_values_supported?: string[];

  @ApiProperty(
    text(
      'The keys of what the service signs for clients: receipts of consents, and answers of introspection.',
    ),
  )
  jwks_uri?: string;

  @ApiProperty(text('Where the keys are that sign receipts of consents.'))
  consent_receipts_jwks_uri?: string;
}

/** The metadata of this service as a resource (RFC 9728). */
@ApiSchema({ name: 'ProtectedResourceMetadata' })
export class ResourceMetadataView {
  @ApiProperty(url())
  resource!: string;

  @ApiProperty(texts)
  authorization_servers!: string[];

  @ApiProperty(texts)
  scopes_supported!: string[];

  @ApiProperty(texts)
  bearer_methods_supported!: string[];

  @ApiProperty(url())
  resource_documentation!: string;
}

/** The metadata for clients of OpenID Connect. What would announce ID tokens is not in them. */
@ApiSchema({ name: 'OpenIdMetadata' })
export class OpenIdMetadataView extends MetadataView {
  @ApiProperty(listOf(text(), { description: 'A user has the same id for every client.' }))
  subject_types_supported!: string[];
}

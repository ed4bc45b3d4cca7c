import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Settings } from '#platform/config/settings.js';
import { ApiAnswer, ApiEndpoint, ApiProblems } from '#platform/http/api/api-answers.js';
import { LANGUAGES } from '#platform/language/languages.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { SIGNATURE_ALGORITHMS } from '#access/clients/keys/jwk-set.js';
import { KnownResources } from '#access/clients/resources/known-resources.service.js';
import { ACRS } from '../authorization/authentication-request.js';
import { MetadataView, OpenIdMetadataView, ResourceMetadataView } from './metadata.view.js';
import { SIGNED_WITH, SigningKeys } from './signing-keys.js';

const CLIENT_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

/** Authorization server metadata (RFC 8414, contract §5), as currently configured. */
@Controller('.well-known')
export class MetadataController {
  constructor(
    private readonly settings: Settings,
    private readonly scopes: ScopesService,
    private readonly resources: KnownResources,
    private readonly signing: SigningKeys,
  ) {}

  @Get('oauth-authorization-server')
  @ApiEndpoint(
    'metadata',
    'Authorization server metadata (RFC 8414)',
    'For client libraries that configure themselves.',
  )
  @ApiTags('OAuth')
  @ApiAnswer(200, 'Reflects the running configuration.', MetadataView)
  @ApiProblems(500, 503)
  async show(): Promise<MetadataView> {
    const issuer = this.settings.baseUrl;
    const { path } = this.signing;
    const keys = `${issuer}${path}`;
    const [scopes, resources] = await Promise.all([this.scopeNames(), this.resources.list()]);
    return {
      issuer,
      authorization_endpoint: `${issuer}/o/authorize/`,
      token_endpoint: `${issuer}/o/token`,
      pushed_authorization_request_endpoint: `${issuer}/o/par`,
      require_pushed_authorization_requests: false,
      revocation_endpoint: `${issuer}/o/revoke_token/`,
      introspection_endpoint: `${issuer}/o/introspect/`,
      scopes_supported: scopes,
      protected_resources: resources,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'client_credentials', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      acr_values_supported: [...ACRS],
      token_endpoint_auth_methods_supported: [...CLIENT_METHODS, 'none'],
      token_endpoint_auth_signing_alg_values_supported: SIGNATURE_ALGORITHMS,
      revocation_endpoint_auth_methods_supported: [...CLIENT_METHODS, 'none'],
      revocation_endpoint_auth_signing_alg_values_supported: SIGNATURE_ALGORITHMS,
      introspection_endpoint_auth_methods_supported: [...CLIENT_METHODS, 'Bearer'],
      introspection_endpoint_auth_signing_alg_values_supported: SIGNATURE_ALGORITHMS,
      dpop_signing_alg_values_supported: SIGNATURE_ALGORITHMS,
      authorization_response_iss_parameter_supported: true,
      ui_locales_supported: [...LANGUAGES],
      service_documentation: `${issuer}/docs/guides`,
      ...(path === undefined
        ? {}
        : {
            introspection_signing_alg_values_supported: [SIGNED_WITH],
            jwks_uri: keys,
            consent_receipts_jwks_uri: keys,
          }),
    };
  }

  /** What clients that begin at this service as a resource look for: who issues its tokens. */
  @Get('oauth-protected-resource')
  @ApiEndpoint(
    'resourceMetadata',
    'Protected resource metadata (RFC 9728)',
    'For client libraries that begin with the address of the API, such as those of MCP.',
  )
  @ApiTags('OAuth')
  @ApiAnswer(200, 'Reflects the running configuration.', ResourceMetadataView)
  @ApiProblems(500, 503)
  async showResource(): Promise<ResourceMetadataView> {
    const { baseUrl } = this.settings;
    return {
      resource: baseUrl,
      authorization_servers: [baseUrl],
      scopes_supported: await this.scopeNames(),
      bearer_methods_supported: ['header'],
      resource_documentation: `${baseUrl}/docs/guides`,
    };
  }

  private async scopeNames(): Promise<string[]> {
    return (await this.scopes.list()).map((scope) => scope.name);
  }

  /**
   * The same for clients that only know the address of OpenID Connect (RFC 8414 §5), with what some of them demand there, as far as it
   * is true: they go no further once it answers.
   */
  @Get('openid-configuration')
  @ApiEndpoint(
    'openIdMetadata',
    'The same metadata, where OpenID Connect has them',
    'For client libraries that look nowhere else. There are no ID tokens and no userinfo endpoint: do not ask for the scope `openid`.',
  )
  @ApiTags('OAuth')
  @ApiAnswer(200, 'Reflects the running configuration.', OpenIdMetadataView)
  @ApiProblems(500, 503)
  async showToOpenIdClients(): Promise<OpenIdMetadataView> {
    return { ...(await this.show()), subject_types_supported: ['public'] };
  }
}

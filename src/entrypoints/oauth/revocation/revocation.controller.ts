import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiExtension, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import { ApiEndpoint } from '#platform/http/api/api-answers.js';
import { originOf } from '#platform/http/server/request-origin.js';
import type { Form } from '#platform/http/forms/form.js';
import { TokenRevocationService } from '#access/tokens/access/token-revocation.service.js';
import { oneOf, optional, text } from '#platform/http/api/api-schemas.js';
import { AuthenticatedClient, ClientAuthenticationGuard } from '../clients/client-authentication.guard.js';
import { ApiOAuthForm, OAuthAnswer, OAuthEndpoint, OAuthForm } from '../oauth-endpoint.js';
import { invalidRequest, NO_STORE } from '../oauth-error.js';
import { ClientCredentialsForm } from '../client-credentials.form.js';

/** The form of the revocation endpoint, as described to callers. */
class RevocationForm extends ClientCredentialsForm {
  @ApiProperty(text()) token!: string;
  @ApiProperty(optional(oneOf('access_token', 'refresh_token'))) token_type_hint?: string;
}

/** The answer of the revocation endpoint: nothing. */
@ApiSchema({ name: 'Nothing', additionalProperties: false } as { name: string })
class NothingView {}

/** Token revocation (RFC 7009, contract §5). */
@Controller('o/revoke_token')
export class RevocationController {
  constructor(private readonly revocation: TokenRevocationService) {}

  /** 200 and `{}` for known, unknown and already revoked tokens alike. */
  @Post()
  @OAuthEndpoint(ClientAuthenticationGuard, { needsTrailingSlash: true })
  @ApiEndpoint(
    'revokeToken',
    'Revocation (RFC 7009)',
    'The trailing slash is required: without it the response is 405. A refresh token is revoked with its whole grant, an access token alone.',
  )
  @ApiExtension('x-trailing-slash', true)
  @ApiOAuthForm(RevocationForm, [
    [400, 'Refused.'],
    [401, 'No valid credentials.'],
  ])
  @OAuthAnswer('The token is no longer valid, or never was.', NothingView)
  async revoke(
    @OAuthForm() form: Form,
    @AuthenticatedClient() client: KnownClient,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NothingView> {
    const token = form.get('token');
    if (token === undefined) throw invalidRequest('The parameter token is required.');
    await this.revocation.revoke(token, client.id, { type: 'client', id: client.id, ...originOf(request) });
    void reply.headers(NO_STORE);
    // Clients ignore the body (RFC 7009 §2.2), but some require a JSON content type, and others parse any body that has one.
    return {};
  }
}

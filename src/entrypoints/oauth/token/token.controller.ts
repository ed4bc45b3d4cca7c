import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import type { GrantType } from '#access/clients/client.entity.js';
import { ApiEndpoint } from '#platform/http/api/api-answers.js';
import { originOf } from '#platform/http/server/request-origin.js';
import type { Form } from '#platform/http/forms/form.js';
import type { IssuedTokens } from '#access/tokens/grants/grant.js';
import { AuthenticatedClient, ClientAuthenticationGuard } from '../clients/client-authentication.guard.js';
import { ApiOAuthForm, OAuthAnswer, OAuthEndpoint, OAuthForm } from '../oauth-endpoint.js';
import { invalidRequest, NO_STORE, OAuthError } from '../oauth-error.js';
import { DpopProofs } from '#access/tokens/dpop/dpop-proofs.service.js';
import { keyOfProof } from '../proofs.js';
import { grantTypeNotRegistered } from '../refusals.js';
import { AuthorizationCodeGrant } from './authorization-code.grant.js';
import { ClientCredentialsGrant } from './client-credentials.grant.js';
import type { TokenGrant } from './grant-request.js';
import { RefreshTokenGrant } from './refresh-token.grant.js';
import { TokenForm } from './token.form.js';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { oneOf, optional, text, whole } from '#platform/http/api/api-schemas.js';

/** RFC 6749 §5.1. */
@ApiSchema({ name: 'TokenResponse' })
class TokenResponse {
  @ApiProperty(text()) access_token!: string;
  @ApiProperty(whole('Seconds.', { example: 3600 })) expires_in!: number;
  @ApiProperty(oneOf('Bearer', 'DPoP')) token_type!: 'Bearer' | 'DPoP';

  @ApiProperty(
    text('Names of scopes, separated by spaces.', { example: 'charging_session:read vehicle:read' }),
  )
  scope!: string;

  @ApiProperty(optional(text('Absent for client credentials.'))) refresh_token?: string;

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

/** The token endpoint (contract §4): authenticate the client, choose the grant, run it, respond. */
@Controller('o/token')
export class TokenController {
  private readonly grants: ReadonlyMap<string, TokenGrant>;

  constructor(
    authorizationCode: AuthorizationCodeGrant,
    clientCredentials: ClientCredentialsGrant,
    refreshToken: RefreshTokenGrant,
    private readonly activity: ActivityService,
    private readonly proofs: DpopProofs,
  ) {
    this.grants = new Map<GrantType, TokenGrant>([
      ['authorization_code', authorizationCode],
      ['client_credentials', clientCredentials],
      ['refresh_token', refreshToken],
    ]);
  }

  @Post()
  @OAuthEndpoint(ClientAuthenticationGuard)
  @ApiEndpoint(
    'token',
    'Token endpoint',
    'Also with a trailing slash. Grants: `authorization_code`, `client_credentials`, `refresh_token`.',
  )
  @ApiOAuthForm(TokenForm, [
    [400, 'Refused.'],
    [401, 'No valid credentials.'],
  ])
  @OAuthAnswer('Tokens.', TokenResponse)
  async issue(
    @OAuthForm() form: Form,
    @AuthenticatedClient() client: KnownClient,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TokenResponse> {
    const grantType = form.get('grant_type');
    const grant = this.grantFor(grantType, client);
    const actor = { type: 'client', id: client.id, ...originOf(request) } as const;
    // RFC 9449 §5: a client that sends a proof gets bound tokens.
    const isBound = client.dpopBoundAccessTokens || this.proofs.isIn(request);
    const jkt = isBound ? await keyOfProof(this.proofs, request) : undefined;
    const tokens = await grant.run({ client, form, actor, jkt });
    this.activity.count({ kind: 'token_issued', detail: grantType!, client, address: request.ip });
    void reply.headers(NO_STORE);
    return toResponse(tokens, isBound ? 'DPoP' : 'Bearer');
  }

  private grantFor(grantType: string | undefined, client: KnownClient): TokenGrant {
    if (grantType === undefined) throw invalidRequest('The parameter grant_type is required.');
    const grant = this.grants.get(grantType);
    if (!grant) throw new OAuthError('unsupported_grant_type', 'This grant type is not supported.');
    // Contract §2: authorization_code implies refresh_token.
    const needed = grantType === 'refresh_token' ? 'authorization_code' : grantType;
    if (!client.grantTypes.some((registered) => registered === needed)) {
      throw grantTypeNotRegistered();
    }
    return grant;
  }
}

const toResponse = (
  { accessToken, expiresIn, scopes, refreshToken, refreshExpiresIn, authorizationExpiresIn }: IssuedTokens,
  tokenType: TokenResponse['token_type'],
): TokenResponse => ({
  access_token: accessToken,
  expires_in: expiresIn,
  token_type: tokenType,
  scope: scopes.join(' '),
  ...(refreshToken === undefined
    ? {}
    : {
        refresh_token: refreshToken,
        refresh_token_expires_in: refreshExpiresIn,
        authorization_expires_in: authorizationExpiresIn,
      }),
});

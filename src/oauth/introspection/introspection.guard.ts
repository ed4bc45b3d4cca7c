import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AccessTokensService } from '../../tokens/access-tokens.service.js';
import { bearerTokenOf } from '../../tokens/bearer-token.js';
import { BEARER_REALM } from '../../tokens/bearer.guard.js';
import { ClientAuthenticationGuard } from '../clients/client-authentication.guard.js';
import { OAuthError } from '../oauth-error.js';

/** The scope that lets a client look at tokens. */
const SCOPE = 'token:introspect';

/** Lets a client with `token:introspect` pass, by its credentials or by its own bearer token (RFC 7662 §2.1). */
@Injectable()
export class IntrospectionGuard implements CanActivate {
  constructor(
    private readonly clientAuthentication: ClientAuthenticationGuard,
    private readonly accessTokens: AccessTokensService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const bearer = bearerTokenOf(request.headers.authorization);
    const scopes = bearer === undefined ? await this.byCredentials(context) : await this.byToken(bearer);
    if (scopes.includes(SCOPE)) return true;
    throw new OAuthError('insufficient_scope', `Introspection needs the scope ${SCOPE}.`, 403, {
      'www-authenticate': `${BEARER_REALM}, error="insufficient_scope", scope="${SCOPE}"`,
    });
  }

  private async byCredentials(context: ExecutionContext): Promise<string[]> {
    await this.clientAuthentication.canActivate(context);
    return context.switchToHttp().getRequest<FastifyRequest>().oauthClient!.scopes;
  }

  private async byToken(token: string): Promise<readonly string[]> {
    const principal = await this.accessTokens.find(token);
    if (principal) return principal.scopes;
    throw new OAuthError(
      'invalid_token',
      'The access token is malformed, unknown, expired or revoked.',
      401,
      {
        'www-authenticate': `${BEARER_REALM}, error="invalid_token"`,
      },
    );
  }
}

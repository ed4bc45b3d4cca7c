import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { hasAccessToken } from '#access/tokens/access/principal.js';
import { BearerGuard, challengeFor, type TokenError } from '#access/tokens/access/bearer.guard.js';
import { ClientAuthenticationGuard } from '../clients/client-authentication.guard.js';
import { INTROSPECTION_SCOPE as SCOPE } from '#access/clients/resources/introspection-scope.js';
import { OAuthError } from '../oauth-error.js';

/** The bearer guard with the error format of an OAuth endpoint. */
@Injectable()
export class IntrospectionBearerGuard extends BearerGuard {
  /** Introspection reads, although it is a POST. */
  protected override isRead(): boolean {
    return true;
  }

  protected override refusal({ error, description, challenge, headers }: TokenError): OAuthError {
    return new OAuthError(error, description, 401, { 'www-authenticate': challenge, ...headers });
  }
}

/** Admits a client with `token:introspect`, authenticated by its credentials or by its own bearer token (RFC 7662 §2.1). */
@Injectable()
export class IntrospectionGuard implements CanActivate {
  constructor(
    private readonly clientAuthentication: ClientAuthenticationGuard,
    private readonly bearer: IntrospectionBearerGuard,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const byToken = hasAccessToken(request.headers.authorization);
    await (byToken ? this.bearer : this.clientAuthentication).canActivate(context);
    const scopes = byToken ? request.principal!.scopes : request.oauthClient!.scopes;
    if (scopes.includes(SCOPE)) return true;
    // This challenge is only for callers that sent a token.
    const challenge = challengeFor(request.principal, `error="insufficient_scope", scope="${SCOPE}"`);
    throw new OAuthError(
      'insufficient_scope',
      `Introspection requires the scope ${SCOPE}.`,
      403,
      byToken ? { 'www-authenticate': challenge } : {},
    );
  }
}

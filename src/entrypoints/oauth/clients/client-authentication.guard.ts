import { createParamDecorator, Injectable, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ClientAuthenticationService } from '#access/clients/client-authentication.service.js';
import {
  basicHeaderOf,
  basicPartsOf,
  credentialsOf,
  type ClientCredentials,
} from '#access/clients/client-credentials.js';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import type { Form } from '#platform/http/forms/form.js';
import { StrategyGuard } from '#platform/http/guards/strategy.guard.js';
import { ClientAssertions } from '../assertions/client-assertions.service.js';
import { invalidClient } from '../oauth-error.js';
import { ClientBasicStrategy, type ClientRequest, requireSingleMethod } from './client-basic.strategy.js';

declare module 'fastify' {
  interface FastifyRequest {
    oauthClient?: KnownClient;
  }
}

/** Authenticates the client by HTTP Basic or in the body (RFC 6749 §2.3.1), or by an assertion. Runs after the form guard. */
@Injectable()
export class ClientAuthenticationGuard extends StrategyGuard {
  constructor(
    strategy: ClientBasicStrategy,
    private readonly clients: ClientAuthenticationService,
    private readonly assertions: ClientAssertions,
  ) {
    super(strategy);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const form = request.body as Form;
    if (this.assertions.isIn(form, request.headers.authorization)) {
      request.oauthClient = await this.assertions.authenticate(form, request);
      return true;
    }
    if (request.headers.authorization === undefined) return this.admit(request, inBody(form));
    const parts = basicPartsOf(request.headers.authorization);
    if (parts && parts.password !== '') return (await super.canActivate(context)) as boolean;
    // The strategy rejects an empty password, which here means no password at all.
    const credentials = parts && credentialsOf(parts);
    if (credentials) requireSingleMethod(credentials, form);
    return this.admit(request, credentials);
  }

  override getRequest(context: ExecutionContext): ClientRequest {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { headers, body } = request;
    const authorization = basicHeaderOf(headers.authorization!, basicPartsOf(headers.authorization!)!);
    return { strategy: this.strategy, headers: { authorization }, form: body as Form, request };
  }

  override handleRequest<User>(
    error: unknown,
    client: KnownClient | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    if (error) throw error;
    if (!client) throw invalidClient();
    context.switchToHttp().getRequest<FastifyRequest>().oauthClient = client;
    return client as User;
  }

  private async admit(request: FastifyRequest, credentials: ClientCredentials | undefined): Promise<true> {
    if (!credentials) this.clients.countMissing(request);
    request.oauthClient = credentials && (await this.clients.authenticate(credentials, request));
    if (!request.oauthClient) throw invalidClient();
    return true;
  }
}

function inBody(form: Form): ClientCredentials | undefined {
  const clientId = form.get('client_id');
  return clientId === undefined ? undefined : { clientId, clientSecret: form.get('client_secret') };
}

/** The authenticated client, behind the guard. */
export const AuthenticatedClient = createParamDecorator(
  (_data: unknown, context: ExecutionContext): KnownClient =>
    context.switchToHttp().getRequest<FastifyRequest>().oauthClient!,
);

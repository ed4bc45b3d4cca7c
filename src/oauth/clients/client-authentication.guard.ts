import { createParamDecorator, Injectable, type ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { ClientAuthenticationService } from '../../clients/client-authentication.service.js';
import { parseBasicCredentials } from '../../clients/client-credentials.js';
import type { ClientEntity } from '../../clients/client.entity.js';
import type { Form } from '../../http/form.js';
import { invalidClient, invalidRequest } from '../oauth-error.js';

declare module 'fastify' {
  interface FastifyRequest {
    oauthClient?: ClientEntity;
  }
}

/** Authenticates the client by HTTP Basic or by the body (RFC 6749 §2.3.1); runs behind the form guard. */
@Injectable()
export class ClientAuthenticationGuard extends AuthGuard('basic') {
  constructor(private readonly clients: ClientAuthenticationService) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const form = request.body as Form;
    const header = request.headers.authorization;
    if (header !== undefined) {
      this.refuseSecondMethod(header, form, request.ip);
      return (await super.canActivate(context)) as boolean;
    }
    const clientId = form.get('client_id');
    if (clientId === undefined) throw this.missing(request.ip);
    const clientSecret = form.get('client_secret');
    const client = await this.clients.authenticate({ clientId, clientSecret }, request.ip);
    if (!client) throw invalidClient();
    request.oauthClient = client;
    return true;
  }

  /** passport-http knows one space behind the scheme; RFC 9110 §11.4 allows several. */
  override getRequest(context: ExecutionContext): unknown {
    const { headers, ip } = context.switchToHttp().getRequest<FastifyRequest>();
    return { headers: { authorization: headers.authorization?.replace(/^Basic +/i, 'Basic ') }, ip };
  }

  override handleRequest<TClient>(
    error: unknown,
    client: TClient | false,
    _info: unknown,
    context: ExecutionContext,
  ): TClient {
    if (error) throw error;
    if (!client) throw invalidClient();
    context.switchToHttp().getRequest<FastifyRequest>().oauthClient = client as unknown as ClientEntity;
    return client;
  }

  /** RFC 6749 §2.3: the client MUST NOT use more than one authentication method in each request. */
  private refuseSecondMethod(header: string, form: Form, address: string): void {
    const credentials = parseBasicCredentials(header);
    if (!credentials) throw this.missing(address);
    const otherId = form.get('client_id') !== undefined && form.get('client_id') !== credentials.clientId;
    if (form.get('client_secret') !== undefined || otherId) {
      throw invalidRequest('The client authenticates twice: by the Authorization header and in the body.');
    }
  }

  private missing(address: string): Error {
    this.clients.countMissing(address);
    return invalidClient();
  }
}

/** The authenticated client, behind the guard. */
export const AuthenticatedClient = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ClientEntity =>
    context.switchToHttp().getRequest<FastifyRequest>().oauthClient!,
);

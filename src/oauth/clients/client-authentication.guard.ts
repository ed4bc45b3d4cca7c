import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ClientAuthenticationService } from '../../clients/client-authentication.service.js';
import { parseBasicCredentials, type ClientCredentials } from '../../clients/client-credentials.js';
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
export class ClientAuthenticationGuard implements CanActivate {
  constructor(private readonly clients: ClientAuthenticationService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const form = request.body as Form;
    const header = request.headers.authorization;
    const credentials = header === undefined ? inBody(form) : parseBasicCredentials(header);
    if (!credentials) {
      this.clients.countMissing(request.ip);
      throw invalidClient();
    }
    if (header !== undefined) refuseSecondMethod(credentials, form);
    request.oauthClient = await this.clients.authenticate(credentials, request.ip);
    if (!request.oauthClient) throw invalidClient();
    return true;
  }
}

function inBody(form: Form): ClientCredentials | undefined {
  const clientId = form.get('client_id');
  return clientId === undefined ? undefined : { clientId, clientSecret: form.get('client_secret') };
}

/** RFC 6749 §2.3: the client MUST NOT use more than one authentication method in each request. */
function refuseSecondMethod({ clientId }: ClientCredentials, form: Form): void {
  const otherId = form.get('client_id') !== undefined && form.get('client_id') !== clientId;
  if (form.get('client_secret') !== undefined || otherId) {
    throw invalidRequest('The client authenticates twice: by the Authorization header and in the body.');
  }
}

/** The authenticated client, behind the guard. */
export const AuthenticatedClient = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ClientEntity =>
    context.switchToHttp().getRequest<FastifyRequest>().oauthClient!,
);

import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { BasicStrategy } from 'passport-http';
import { ClientAuthenticationService } from '#access/clients/client-authentication.service.js';
import { credentialsOf, type ClientCredentials } from '#access/clients/client-credentials.js';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import type { Form } from '#platform/http/forms/form.js';
import { ownPassport, type CredentialsRequest } from '#platform/http/guards/strategy.guard.js';
import type { Refusable } from '#records/activity/activity.js';
import { invalidRequest } from '../oauth-error.js';

/** RFC 6749 §2.3: the client MUST NOT use more than one authentication method in each request. */
export function requireSingleMethod({ clientId }: ClientCredentials, form: Form): void {
  const otherId = form.get('client_id') !== undefined && form.get('client_id') !== clientId;
  if (form.get('client_secret') !== undefined || otherId) {
    throw invalidRequest('The client authenticated twice: in the Authorization header and in the body.');
  }
}

/** The request to an OAuth endpoint that is passed to the strategy. */
export interface ClientRequest extends CredentialsRequest {
  form: Form;
  request: Refusable;
}

/** Client authentication by HTTP Basic (RFC 6749 §2.3.1). The strategy parses the header and calls `validate` with its parts. */
@Injectable()
export class ClientBasicStrategy extends PassportStrategy(BasicStrategy, 'basic') {
  constructor(private readonly clients: ClientAuthenticationService) {
    super({ passReqToCallback: true });
  }

  /** The client with this id and secret, both still form-urlencoded; false if not found. */
  async validate(
    { form, request }: ClientRequest,
    userId: string,
    password: string,
  ): Promise<KnownClient | false> {
    const credentials = credentialsOf({ userId, password });
    if (!credentials) {
      this.clients.countMissing(request);
      return false;
    }
    requireSingleMethod(credentials, form);
    return (await this.clients.authenticate(credentials, request)) ?? false;
  }

  getPassportInstance() {
    return ownPassport();
  }
}

import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { ClientAuthenticationService } from '../../clients/client-authentication.service.js';
import { parseBasicCredentials } from '../../clients/client-credentials.js';
import type { ClientEntity } from '../../clients/client.entity.js';

/** What the guard lets passport see of a request. */
interface BasicRequest {
  headers: { authorization: string };
  ip: string;
}

/** Passport's Basic strategy over the clients of this service. */
@Injectable()
export class BasicStrategy extends PassportStrategy(PassportBasicStrategy, 'basic') {
  constructor(private readonly clients: ClientAuthenticationService) {
    super({ passReqToCallback: true, realm: 'Charging Data Service' });
  }

  /** The header is read anew: passport-http cuts a secret at its first colon and leaves the form-encoding on. */
  async validate({ headers, ip }: BasicRequest): Promise<ClientEntity | false> {
    const credentials = parseBasicCredentials(headers.authorization);
    return (credentials && (await this.clients.authenticate(credentials, ip))) ?? false;
  }
}

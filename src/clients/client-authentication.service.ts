import { Injectable } from '@nestjs/common';
import { CLIENT_ID_PATTERN } from '../secrets/ids.js';
import { digestOf, sameDigest } from '../secrets/tokens.js';
import type { ClientCredentials } from './client-credentials.js';
import type { ClientEntity } from './client.entity.js';
import { ClientsRepository } from './clients.repository.js';

/** Decides whether credentials are a client's (contract §4). */
@Injectable()
export class ClientAuthenticationService {
  constructor(private readonly repository: ClientsRepository) {}

  /**
   * The enabled client: a confidential one with one of its live secrets, a public one without any. Undefined in every
   * other case. One query; any secret is looked at as its digest, whatever its form.
   */
  async authenticate({ clientId, clientSecret }: ClientCredentials): Promise<ClientEntity | undefined> {
    if (!CLIENT_ID_PATTERN.test(clientId)) return undefined;
    const client = await this.repository.findWithSecrets(clientId);
    if (!client?.enabled) return undefined;
    const { secretDigests, ...known } = client;
    if (client.type === 'public') return clientSecret === undefined ? known : undefined;
    if (clientSecret === undefined) return undefined;
    const digest = digestOf(clientSecret);
    return secretDigests.some((each) => sameDigest(each, digest)) ? known : undefined;
  }
}

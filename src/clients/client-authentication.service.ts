import { Injectable } from '@nestjs/common';
import type { CredentialsRefusal } from '../activity/activity.js';
import { ActivityService } from '../activity/activity.service.js';
import { CLIENT_ID_PATTERN } from '../secrets/ids.js';
import { digestOf, sameDigest } from '../secrets/tokens.js';
import type { ClientCredentials } from './client-credentials.js';
import type { ClientEntity } from './client.entity.js';
import { ClientsRepository } from './clients.repository.js';

/** Decides whether credentials are a client's (contract §4). */
@Injectable()
export class ClientAuthenticationService {
  constructor(
    private readonly repository: ClientsRepository,
    private readonly activity: ActivityService,
  ) {}

  /**
   * The enabled client: a confidential one with one of its live secrets, a public one without any. Undefined in every
   * other case, which is counted with its reason. One query; any secret is looked at as its digest, whatever its form.
   */
  async authenticate(
    { clientId, clientSecret }: ClientCredentials,
    address?: string,
  ): Promise<ClientEntity | undefined> {
    if (!CLIENT_ID_PATTERN.test(clientId)) return this.refuse('unknown_client', undefined, address);
    const client = await this.repository.findWithSecrets(clientId);
    if (!client) return this.refuse('unknown_client', undefined, address);
    if (!client.enabled) return this.refuse('client_disabled', clientId, address);
    const { secretDigests, ...known } = client;
    if (client.type === 'public') {
      return clientSecret === undefined ? known : this.refuse('secret_of_public_client', clientId, address);
    }
    if (clientSecret === undefined) return this.refuse('no_secret', clientId, address);
    const digest = digestOf(clientSecret);
    if (secretDigests.some((each) => sameDigest(each, digest))) return known;
    const isExpired = await this.repository.isKnownSecret(clientId, digest);
    return this.refuse(isExpired ? 'expired_secret' : 'wrong_secret', clientId, address);
  }

  /** Counts a request that brought nothing to authenticate with, or nothing that can be read. */
  countMissing(address: string): void {
    this.refuse('no_credentials', undefined, address);
  }

  private refuse(detail: CredentialsRefusal, clientId: string | undefined, address?: string): undefined {
    this.activity.count({ kind: 'token_refused', detail, clientId, address });
  }
}

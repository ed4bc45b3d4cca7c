import { Injectable } from '@nestjs/common';
import type { CredentialsRefusal } from '../activity/activity.js';
import { ActivityService } from '../activity/activity.service.js';
import { AccessChanges } from '../database/access-changes.service.js';
import { Remembered } from '../database/remembered.js';
import { CLIENT_ID_PATTERN } from '../secrets/ids.js';
import { digestOf, sameDigest } from '../secrets/tokens.js';
import type { ClientCredentials } from './client-credentials.js';
import type { ClientEntity } from './client.entity.js';
import { ClientsRepository, type ClientWithSecrets } from './clients.repository.js';

const REMEMBERED_CLIENTS = 5_000;

/** Decides whether credentials are a client's (contract §4). */
@Injectable()
export class ClientAuthenticationService {
  private readonly clients: Remembered<ClientWithSecrets>;

  constructor(
    private readonly repository: ClientsRepository,
    private readonly activity: ActivityService,
    changes: AccessChanges,
  ) {
    this.clients = new Remembered(changes, REMEMBERED_CLIENTS);
  }

  /**
   * The enabled client: a confidential one with one of its live secrets, a public one without any. Undefined in every
   * other case, which is counted with its reason. At most one query, and none for a client that is remembered; any secret is looked at as its digest, whatever its form.
   */
  async authenticate(
    { clientId, clientSecret }: ClientCredentials,
    address?: string,
  ): Promise<ClientEntity | undefined> {
    if (!CLIENT_ID_PATTERN.test(clientId)) return this.refuse('unknown_client', undefined, address);
    const found = this.clients.get(clientId) ?? (await this.read(clientId));
    if (!found) return this.refuse('unknown_client', undefined, address);
    const { client, secretDigests } = found;
    if (!client.enabled) return this.refuse('client_disabled', clientId, address);
    if (client.type === 'public') {
      return clientSecret === undefined ? client : this.refuse('secret_of_public_client', clientId, address);
    }
    if (clientSecret === undefined) return this.refuse('no_secret', clientId, address);
    const digest = digestOf(clientSecret);
    if (secretDigests.some((each) => sameDigest(each, digest))) return client;
    const isExpired = await this.repository.isKnownSecret(clientId, digest);
    return this.refuse(isExpired ? 'expired_secret' : 'wrong_secret', clientId, address);
  }

  private read(clientId: string): Promise<ClientWithSecrets | undefined> {
    return this.clients.read(clientId, async () => {
      const value = await this.repository.findWithSecrets(clientId);
      return value && { value, restsOn: [clientId], seconds: value.seconds ?? Infinity };
    });
  }

  /** Counts a request that brought nothing to authenticate with, or nothing that can be read. */
  countMissing(address: string): void {
    this.refuse('no_credentials', undefined, address);
  }

  private refuse(detail: CredentialsRefusal, clientId: string | undefined, address?: string): undefined {
    this.activity.count({ kind: 'token_refused', detail, clientId, address });
  }
}

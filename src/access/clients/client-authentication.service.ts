import { Injectable } from '@nestjs/common';
import type { CredentialsRefusal, EventClient, Refusable } from '#records/activity/activity.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { CLIENT_ID_PATTERN } from '#platform/secrets/ids.js';
import { digestOf, sameDigest } from '#platform/secrets/tokens.js';
import type { ClientCredentials } from './client-credentials.js';
import { usesKeys } from './client.entity.js';
import { isBacked, type ClientWithSecrets, type KnownClient } from './client-with-secrets.js';
import { ClientsRepository } from './clients.repository.js';
import { KnownClientsService } from './known-clients.service.js';
import { SecretUsesService } from './secret-uses.service.js';

/** Verifies client credentials (contract §4). */
@Injectable()
export class ClientAuthenticationService {
  constructor(
    private readonly repository: ClientsRepository,
    private readonly clients: KnownClientsService,
    private readonly activity: ActivityService,
    private readonly uses: SecretUsesService,
  ) {}

  /**
   * The enabled client: a confidential one with one of its valid secrets, a public one without any. Undefined otherwise, which is
   * counted with its reason. Cached data may accept, but the database is queried before a refusal, because another instance may
   * just have added the secret. Secrets of any format are compared by digest.
   */
  async authenticate(
    { clientId, clientSecret }: ClientCredentials,
    request?: Refusable,
  ): Promise<KnownClient | undefined> {
    const found = await this.findWorking(clientId, request);
    if (!found) return undefined;
    const { client, secretDigests } = found;
    if (client.type === 'public') {
      return clientSecret === undefined ? client : this.refuse('secret_of_public_client', client, request);
    }
    if (clientSecret === undefined) {
      return this.refuse(usesKeys(client) ? 'no_assertion' : 'no_secret', client, request);
    }
    const digest = digestOf(clientSecret);
    const right = secretDigests.find((each) => sameDigest(each, digest));
    const state = right ? 'valid' : await this.repository.stateOfSecret(clientId, digest);
    if (state !== 'valid') {
      const ofSecret = state === 'expired' ? 'expired_secret' : 'wrong_secret';
      return this.refuse(usesKeys(client) ? 'secret_of_client_with_keys' : ofSecret, client, request);
    }
    this.uses.note(clientId, right ?? digest);
    return client;
  }

  /** The client with this id, if it may authenticate; undefined otherwise, which is counted with its reason. */
  async findWorking(clientId: string, request?: Refusable): Promise<ClientWithSecrets | undefined> {
    if (!CLIENT_ID_PATTERN.test(clientId)) return this.refuse('unknown_client', undefined, request);
    const found = await this.clients.find(clientId);
    if (!found) return this.refuse('unknown_client', undefined, request);
    if (!found.client.enabled) return this.refuse('client_disabled', found.client, request);
    if (!isBacked(found)) return this.refuse('owner_not_operator', found.client, request);
    return found;
  }

  /** Counts a request whose assertion is refused. */
  countRefusal(detail: CredentialsRefusal, client: EventClient | undefined, request: Refusable): void {
    this.refuse(detail, client, request);
  }

  /** Counts a request without readable client credentials. */
  countMissing(request: Refusable): void {
    this.refuse('no_credentials', undefined, request);
  }

  private refuse(
    detail: CredentialsRefusal,
    client: EventClient | undefined,
    request?: Refusable,
  ): undefined {
    this.activity.count({ kind: 'token_refused', detail, client, request });
  }
}

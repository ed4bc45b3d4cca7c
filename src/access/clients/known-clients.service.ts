import { Injectable } from '@nestjs/common';
import { AccessChanges, type Stamp } from '#platform/database/changes/access-changes.service.js';
import { ChangeTrackedCache } from '#platform/database/changes/change-tracked-cache.js';
import { ClientsRepository } from './clients.repository.js';
import { isWorking, type ClientWithSecrets } from './client-with-secrets.js';

const CACHED_CLIENTS = 5_000;

/** A client, and when its state was read. */
export interface ClientAt {
  found: ClientWithSecrets;
  stamp: Stamp;
  /** By the database's clock, in milliseconds since 1970. */
  now: number;
}

/** Cached clients, valid as long as nothing about them has changed (docs/decisions/0006-what-instances-keep-in-memory.md). */
@Injectable()
export class KnownClientsService {
  private readonly clients: ChangeTrackedCache<ClientWithSecrets>;

  constructor(
    private readonly repository: ClientsRepository,
    private readonly changes: AccessChanges,
  ) {
    this.clients = new ChangeTrackedCache(changes, CACHED_CLIENTS);
  }

  /**
   * The client with its valid secrets, whether it works or not. A disabled client is read again, because the cache may be
   * slightly stale.
   */
  async find(clientId: string): Promise<ClientWithSecrets | undefined> {
    const known = this.known(clientId);
    return known && isWorking(known) ? known : this.read(clientId);
  }

  /** The same, from memory only. */
  known(clientId: string): ClientWithSecrets | undefined {
    return this.clients.get(clientId);
  }

  /** The client as of at most a minute ago, without a query. Only use it to refuse a request. */
  recall(clientId: string): ClientWithSecrets | undefined {
    return this.clients.recall(clientId);
  }

  /** The same, to issue something based on it: a cached client that is disabled is read again. */
  async findAt(clientId: string): Promise<ClientAt | undefined> {
    const known = this.known(clientId);
    // Nothing about it changed up to the last read of the changes.
    if (known && isWorking(known) && known.ownerEnabled)
      return { found: known, stamp: this.changes.stamp, now: this.changes.databaseNow };
    const { era } = this.changes;
    const found = await this.read(clientId);
    return found && { found, stamp: { era, position: found.position }, now: found.now };
  }

  private read(clientId: string): Promise<ClientWithSecrets | undefined> {
    return this.clients.read(clientId, async () => {
      const value = await this.repository.findWithSecrets(clientId);
      return (
        value && {
          value,
          dependsOn: [clientId, value.client.ownerId],
          seconds: value.seconds ?? Infinity,
        }
      );
    });
  }
}

import { Injectable } from '@nestjs/common';
import { calculateJwkThumbprint } from 'jose';
import type { Actor } from '#records/audit/audit.service.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict } from '#platform/http/problems/problem.js';
import { usesKeys, type ClientEntity } from '../client.entity.js';
import { ClientsService, type Alongside } from '../clients.service.js';
import { SecretUsesService } from '../secret-uses.service.js';
import { algorithmOf, type Jwk } from './jwk-set.js';
import type { KeyInfo } from './key-info.js';

/** The registered public keys of clients (contract §2): what is known of them, and adding and ending one. */
@Injectable()
export class ClientKeysService {
  constructor(
    private readonly clients: ClientsService,
    private readonly uses: SecretUsesService,
    private readonly transactions: Transactions,
    private readonly events: DomainEvents,
  ) {}

  /** The keys of a client, except those at an address. */
  async list({ id, jwks }: Pick<ClientEntity, 'id' | 'jwks'>): Promise<KeyInfo[]> {
    if (jwks === null) return [];
    const lastUsed = await this.uses.ofKeys(id);
    return Promise.all(
      jwks.keys.map(async (jwk) => {
        const thumbprint = await calculateJwkThumbprint(jwk);
        const lastUsedAt = lastUsed.get(thumbprint) ?? null;
        return { thumbprint, kid: jwk.kid, algorithm: algorithmOf(jwk) ?? jwk.kty, lastUsedAt };
      }),
    );
  }

  /** Adds a key to those of a client with keys. Throws a 400 problem about `jwks`, and a 409 problem if it has its keys elsewhere. */
  add(clientId: string, jwk: unknown, actor: Actor, alongside: Alongside): Promise<void> {
    return this.change(clientId, actor, alongside, (keys) => Promise.resolve([...keys, jwk as Jwk]));
  }

  /**
   * Ends a key that is not the only one, and the portal links and the sessions that were opened with one. Throws a 409 problem if there is
   * no such key, or no longer.
   */
  end(clientId: string, thumbprint: string, actor: Actor, alongside: Alongside): Promise<void> {
    return this.change(clientId, actor, alongside, async (keys) => {
      const thumbprints = await Promise.all(keys.map((key) => calculateJwkThumbprint(key)));
      const left = keys.filter((_, n) => thumbprints[n] !== thumbprint);
      if (left.length === keys.length || left.length === 0) {
        throw conflict('This key has ended already, or it is the only one: add another one first.');
      }
      await this.events.say('client.secret_ended', clientId);
      return left;
    });
  }

  private change(
    clientId: string,
    actor: Actor,
    alongside: Alongside,
    keysAfter: (keys: Jwk[]) => Promise<Jwk[]>,
  ): Promise<void> {
    return this.transactions.run(async () => {
      const client = await this.clients.lock(clientId);
      if (!usesKeys(client) || client.jwks === null) {
        throw conflict('This client has no registered keys: it has a secret, or its keys are at an address.');
      }
      const keys = await keysAfter(client.jwks.keys);
      await this.clients.changeKeys(client, { keys }, actor);
      await alongside(client);
    });
  }
}

import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../audit/audit.service.js';
import { isForeignKeyViolation } from '../database/database-errors.js';
import { Transactions } from '../database/transactions.js';
import type { Page, PageRequest } from '../http/paging.js';
import { conflict, notFound, validationFailed } from '../http/problem.js';
import { ScopesService } from '../scopes/scopes.service.js';
import { newId } from '../secrets/ids.js';
import { digestOf, newSecret } from '../secrets/tokens.js';
import { AccessEndings } from '../users/access-endings.js';
import { clientErrors } from './client-rules.js';
import { ClientEntity, type ClientType, type GrantType } from './client.entity.js';
import { ClientsRepository, type SecretInfo } from './clients.repository.js';

export interface NewClient {
  name: string;
  type: ClientType;
  grantTypes: GrantType[];
  scopes: string[];
  redirectUris: string[];
  ownerId: string;
  rateLimit?: number | null;
  trusted?: boolean;
}

export interface ClientChanges {
  name?: string;
  redirectUris?: string[];
  grantTypes?: GrantType[];
  rateLimit?: number | null;
  trusted?: boolean;
  enabled?: boolean;
}

/** Registration of OAuth clients and their secrets (contract §2, §12). Every change is an audit event in its transaction. */
@Injectable()
export class ClientsService {
  constructor(
    private readonly repository: ClientsRepository,
    private readonly scopes: ScopesService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly endings: AccessEndings,
  ) {}

  find(id: string, manager?: EntityManager): Promise<ClientEntity | null> {
    return this.repository.findById(id, manager);
  }

  /** The client; throws a 404 problem. */
  async get(id: string): Promise<ClientEntity> {
    return (await this.repository.findById(id)) ?? this.missing();
  }

  list(q: string | undefined, page: PageRequest): Promise<Page<ClientEntity>> {
    return this.repository.list(q, page);
  }

  /** When the client's secrets were made and until when they count, the newest first; never a secret. */
  secrets(id: string): Promise<SecretInfo[]> {
    return this.repository.secrets(id);
  }

  /** Registers a client; a confidential one gets its secret, which is shown this once. Throws a 400 problem with `field_errors`. */
  async create(input: NewClient, actor: Actor): Promise<{ client: ClientEntity; secret?: string }> {
    const id = newId('clnt');
    const secret = input.type === 'confidential' ? newSecret('clientSecret') : undefined;
    const values = {
      ...input,
      id,
      enabled: true,
      rateLimit: input.rateLimit ?? null,
      trusted: input.trusted ?? false,
    };
    try {
      const client = await this.transactions.run(async (manager) => {
        await this.checkRules(manager, values);
        await manager.insert(ClientEntity, values);
        if (secret) await this.repository.addSecret(manager, id, digestOf(secret), 0);
        const made = (await this.repository.findById(id, manager))!;
        await this.audit.record(manager, actor, {
          action: 'client.created',
          subjectType: 'client',
          subjectId: id,
          after: auditView(made),
        });
        return made;
      });
      return { client, ...(secret ? { secret } : {}) };
    } catch (error) {
      if (!isForeignKeyViolation(error, 'clients_owner_id_fkey')) throw error;
      throw validationFailed({ owner_id: ['is not the id of a user'] });
    }
  }

  /** Changes a client; disabling ends everything it holds, in the same transaction, and enabling again revives none of it. */
  async update(id: string, changes: ClientChanges, actor: Actor): Promise<ClientEntity> {
    const wanted = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    if (Object.keys(wanted).length === 0) return this.get(id);
    return this.transactions.run(async (manager) => {
      const before = (await this.repository.lock(manager, id)) ?? this.missing();
      await this.checkRules(manager, { ...before, ...wanted });
      await manager.update(ClientEntity, { id }, { ...wanted, updatedAt: () => 'now()' });
      const after = (await this.repository.findById(id, manager))!;
      if (before.enabled && !after.enabled) await this.endings.endForClient(manager, id, 'client_disabled');
      const difference = changesBetween(auditView(before), auditView(after));
      if (difference) {
        await this.audit.record(manager, actor, {
          action: 'client.updated',
          subjectType: 'client',
          subjectId: id,
          ...difference,
        });
      }
      return after;
    });
  }

  /** Deletes a client with its secrets, consents, grants and tokens. */
  async delete(id: string, actor: Actor): Promise<void> {
    await this.transactions.run(async (manager) => {
      const client = (await this.repository.lock(manager, id)) ?? this.missing();
      await manager.delete(ClientEntity, { id });
      await this.audit.record(manager, actor, {
        action: 'client.deleted',
        subjectType: 'client',
        subjectId: id,
        before: auditView(client),
      });
    });
  }

  /** A new secret, shown this once; the ones before it count for `expirePreviousIn` seconds more at the most. A public client: 409. */
  async rotateSecret(
    id: string,
    expirePreviousIn: number,
    actor: Actor,
  ): Promise<{ secret: string; previousSecretExpiresAt: Date | null }> {
    const secret = newSecret('clientSecret');
    const previousSecretExpiresAt = await this.transactions.run(async (manager) => {
      const client = (await this.repository.lock(manager, id)) ?? this.missing();
      if (client.type === 'public') throw conflict('A public client has no secret.');
      const until = await this.repository.addSecret(manager, id, digestOf(secret), expirePreviousIn);
      await this.audit.record(manager, actor, {
        action: 'client.secret_rotated',
        subjectType: 'client',
        subjectId: id,
        after: { previous_secret_expires_at: until?.toISOString() ?? null },
      });
      return until;
    });
    return { secret, previousSecretExpiresAt };
  }

  /** Ends every grant, token, code and unredeemed portal link of the client; how many grants and tokens that were. */
  revokeTokens(id: string, actor: Actor): Promise<number> {
    return this.transactions.run(async (manager) => {
      if (!(await this.repository.lock(manager, id))) this.missing();
      const revoked = await this.endings.endForClient(manager, id, 'tokens_revoked');
      await this.audit.record(manager, actor, {
        action: 'client.tokens_revoked',
        subjectType: 'client',
        subjectId: id,
        after: { revoked },
      });
      return revoked;
    });
  }

  private async checkRules(
    manager: EntityManager,
    client: Parameters<typeof clientErrors>[0],
  ): Promise<void> {
    const errors = clientErrors(client, await this.scopes.listAndHold(manager));
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
  }

  private missing(): never {
    throw notFound('There is no client with this id.');
  }
}

const auditView = (client: ClientEntity) => ({
  name: client.name,
  type: client.type,
  grant_types: client.grantTypes,
  scopes: client.scopes,
  redirect_uris: client.redirectUris,
  owner_id: client.ownerId,
  enabled: client.enabled,
  rate_limit: client.rateLimit,
  trusted: client.trusted,
});

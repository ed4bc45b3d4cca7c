import { Injectable } from '@nestjs/common';
import { AuditService, changesBetween, type Actor } from '#records/audit/audit.service.js';
import { LogosService } from '#records/brand/brand.service.js';
import { isForeignKeyViolation, isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { notFound, validationFailed, type Problem } from '#platform/http/problems/problem.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { newId } from '#platform/secrets/ids.js';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import type { ErasureObstacle } from '#access/domain/domain-questions.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import {
  clientViolations,
  redirectUrisAfter,
  type ClientShape,
  type RedirectUriChange,
} from './client-rules.js';
import { usesKeys, type ClientEntity } from './client.entity.js';
import type { JwkSet } from './keys/jwk-set.js';
import { CLIENT, type ClientChanges, type NewClient } from './client.resource.js';
import { ClientsRepository, type ClientFilter } from './clients.repository.js';
import { OperatorClientsService } from './operator-clients.service.js';
import { violation, type Violations } from '#platform/http/problems/violation.js';

export interface RegisteredClient {
  client: ClientEntity;
  /** Absent for a public client, one with keys, and where no new one was made. */
  secret?: string;
}

/** Runs in the same transaction as a change; throwing rolls the change back. */
export type Alongside = (client: ClientEntity) => Promise<void>;

/** A change of a client, and whether a switch to DPoP ends the tokens from before. */
export type ClientUpdate = ClientChanges & { endEarlierTokens?: boolean };

/** Checks a change while the client is locked; throws to refuse it. */
export type ClientChangeCheck = (before: ClientEntity, after: ClientEntity) => Promise<void>;

/** OAuth clients (contract §2, §12). Every change is an audit event in the same transaction. */
@Injectable()
export class ClientsService {
  constructor(
    private readonly repository: ClientsRepository,
    private readonly scopes: ScopesService,
    private readonly purposes: PurposesService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly operators: OperatorClientsService,
    private readonly logos: LogosService,
    private readonly questions: DomainQuestions,
  ) {}

  @Answers('user.erasure_obstacle')
  async obstacleTo(userId: string): Promise<ErasureObstacle | undefined> {
    return (await this.repository.existsOf(userId)) ? 'owns_clients' : undefined;
  }

  find(id: string): Promise<ClientEntity | null> {
    return this.repository.findById(id);
  }

  /** The client; throws a 404 problem. */
  async get(id: string): Promise<ClientEntity> {
    return (await this.repository.findById(id)) ?? this.missing();
  }

  /** The client, which does not change until the transaction ends; throws a 404 problem. */
  async hold(id: string): Promise<ClientEntity> {
    return (await this.repository.hold(id)) ?? this.missing();
  }

  /** The names of these clients, as far as they still exist. */
  namesOf(ids: string[]): Promise<Pick<ClientEntity, 'id' | 'name'>[]> {
    return this.repository.namesOf(ids);
  }

  /** The names of the first ones, by id. */
  firstNames(limit: number): Promise<Pick<ClientEntity, 'id' | 'name' | 'environment'>[]> {
    return this.repository.firstNames(limit);
  }

  /** The same by id; the ids may repeat. */
  async namesById(ids: string[]): Promise<ReadonlyMap<string, string>> {
    const found = await this.repository.namesOf([...new Set(ids)]);
    return new Map(found.map(({ id, name }) => [id, name]));
  }

  list(filter: ClientFilter, page: PageRequest): Promise<Page<ClientEntity>> {
    return this.repository.list(filter, page);
  }

  /** Whether the user owns a client. */
  hasAny(ownerId: string): Promise<boolean> {
    return this.repository.existsOf(ownerId);
  }

  /**
   * Creates a client. The secret of a confidential client is returned only this once. Throws a 400 problem with `field_errors`.
   */
  create(input: NewClient, actor: Actor): Promise<RegisteredClient> {
    return this.register(newId('clnt'), input, actor);
  }

  /** The same with a given id; undefined if a client with this id exists because the form was posted twice. */
  async createOnce(
    id: string,
    input: NewClient,
    actor: Actor,
    alongside?: Alongside,
  ): Promise<RegisteredClient | undefined> {
    try {
      return await this.register(id, input, actor, alongside);
    } catch (error) {
      if (!isUniqueViolation(error, 'clients_pkey')) throw error;
      return undefined;
    }
  }

  /** The same as `create` with a given id, and with what is done in the same transaction. */
  async register(
    id: string,
    input: NewClient,
    actor: Actor,
    alongside?: Alongside,
  ): Promise<RegisteredClient> {
    await this.checkKeyAddress(input);
    return this.transactions.run(async () => {
      const registered = await this.insert(id, input, actor);
      await alongside?.(registered.client);
      return registered;
    });
  }

  private async insert(id: string, input: NewClient, actor: Actor): Promise<RegisteredClient> {
    const values = { ...CLIENT.complete(input), logoId: null, enabled: true };
    const hasSecret = input.type === 'confidential' && !usesKeys(values);
    const secret = hasSecret ? newSecret('clientSecret') : undefined;
    try {
      const catalogue = await this.checkRules(values);
      await this.operators.requireBacking(values, catalogue, actor);
      await this.repository.insert(id, values);
      if (secret) await this.repository.addSecret(id, digestOf(secret), 0);
      const client = (await this.repository.findById(id))!;
      await this.audit.record(actor, {
        action: 'client.created',
        subjectId: id,
        after: CLIENT.auditView(client),
      });
      return { client, ...(secret ? { secret } : {}) };
    } catch (error) {
      if (isForeignKeyViolation(error, 'clients_owner_id_fkey')) {
        throw validationFailed({ owner_id: [violation('unknown_id', { what: 'user' })] });
      }
      if (!isForeignKeyViolation(error, 'clients_owner_realm_fkey')) throw error;
      throw validationFailed({ owner_id: [violation('not_live_user')] });
    }
  }

  /**
   * Updates a client. Disabling it ends everything it holds in the same transaction, and enabling it again restores none of it. From
   * keys back to a secret, it gets a new one, returned only this once.
   */
  async update(
    id: string,
    { endEarlierTokens, ...changes }: ClientUpdate,
    actor: Actor,
    check?: ClientChangeCheck,
  ): Promise<RegisteredClient> {
    const wanted = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    if (Object.keys(wanted).length === 0) return { client: await this.get(id) };
    await this.checkKeyAddress(changes);
    return this.transactions.run(async () => {
      const before = await this.lock(id);
      const updated = await this.updateLocked(before, wanted, actor);
      if (endEarlierTokens && !before.dpopBoundAccessTokens && updated.client.dpopBoundAccessTokens) {
        await this.endTokens(id, actor);
      }
      await check?.(before, updated.client);
      return updated;
    });
  }

  /** Locks the client until the transaction ends; throws a 404 problem. */
  async lock(id: string): Promise<ClientEntity> {
    return (await this.repository.lock(id)) ?? this.missing();
  }

  /** Registers or removes a redirect URI of a client that is locked. Throws as `update` does. */
  async changeRedirectUri(
    client: ClientEntity,
    change: RedirectUriChange,
    actor: Actor,
  ): Promise<ClientEntity> {
    return (await this.updateLocked(client, { redirectUris: redirectUrisAfter(client, change) }, actor))
      .client;
  }

  /** Replaces the keys of a client that is locked. Throws as `update` does. */
  async changeKeys(client: ClientEntity, jwks: JwkSet, actor: Actor): Promise<void> {
    await this.updateLocked(client, { jwks }, actor);
  }

  private async updateLocked(
    before: ClientEntity,
    changes: ClientChanges,
    actor: Actor,
  ): Promise<RegisteredClient> {
    const { id } = before;
    const catalogue = await this.checkRules({ ...before, ...changes });
    if (changes.enabled !== undefined || changes.companyService !== undefined) {
      await this.operators.requireBacking({ ...before, ...changes }, catalogue, actor);
    }
    await this.repository.update(id, changes);
    const after = (await this.repository.findById(id))!;
    if (before.enabled && !after.enabled) await this.events.say('client.access_ended', id, 'client_disabled');
    const secret = await this.settleSecrets(before, after);
    const difference = changesBetween(CLIENT.auditView(before), CLIENT.auditView(after));
    if (difference) {
      await this.audit.record(actor, { action: 'client.updated', subjectId: id, ...difference });
    }
    return { client: after, ...(secret === undefined ? {} : { secret }) };
  }

  /** A client with keys has no secret: its secrets end with the change, and on the way back there is a new one, which is returned. */
  private async settleSecrets(before: ClientEntity, after: ClientEntity): Promise<string | undefined> {
    if (usesKeys(before) === usesKeys(after)) return undefined;
    if (usesKeys(after)) {
      await this.repository.endSecrets([after.id]);
      // Whoever had one may have opened the portal.
      await this.events.say('client.secret_ended', after.id);
      return undefined;
    }
    const secret = newSecret('clientSecret');
    await this.repository.addSecret(after.id, digestOf(secret), 0);
    return secret;
  }

  /** Throws a 400 problem for an address of keys that would not be asked. Not in the transaction, because it waits for name servers. */
  private async checkKeyAddress({ jwksUri }: Pick<ClientChanges, 'jwksUri'>): Promise<void> {
    const found = jwksUri ? await this.questions.ask('client.key_address_violation', jwksUri) : undefined;
    if (found) throw validationFailed({ jwks_uri: [found] });
  }

  /** Sets the logo to an image from `logoFrom`, or removes it. */
  changeLogo(id: string, image: Buffer | null, actor: Actor): Promise<void> {
    return this.transactions.run(async () => {
      const before = await this.lock(id);
      const logoId = image === null ? null : await this.logos.store(image);
      if (logoId === before.logoId) return;
      await this.repository.update(id, { logoId });
      await this.audit.record(actor, {
        action: 'client.updated',
        subjectId: id,
        before: { logo: before.logoId },
        after: { logo: logoId },
      });
    });
  }

  /** Deletes a client with its secrets, consents, grants and tokens. `check` throws to refuse it. */
  delete(id: string, actor: Actor, check?: () => Promise<void>): Promise<void> {
    return this.transactions.run(async () => {
      const client = (await this.repository.lock(id)) ?? this.missing();
      await check?.();
      await this.repository.delete(id);
      await this.audit.record(actor, {
        action: 'client.deleted',
        subjectId: id,
        before: CLIENT.auditView(client),
      });
    });
  }

  /** Ends every grant, token, code, portal link and portal session of the client. Returns the number of grants. */
  revokeTokens(id: string, actor: Actor): Promise<number> {
    return this.transactions.run(async () => {
      if (!(await this.repository.lock(id))) this.missing();
      return this.endTokens(id, actor);
    });
  }

  private async endTokens(id: string, actor: Actor): Promise<number> {
    const ended = await this.events.say('client.access_ended', id, 'tokens_revoked');
    const revoked = ended.find((grants) => typeof grants === 'number') ?? 0;
    await this.audit.record(actor, {
      action: 'client.tokens_revoked',
      subjectId: id,
      after: { revoked },
    });
    return revoked;
  }

  /** What is wrong with a client by the rules of contract §2, by member; empty if nothing is. */
  async violationsIn(client: ClientShape): Promise<Violations> {
    const purposes = (await this.purposes.list()).map(({ name }) => name);
    return clientViolations(client, await this.scopes.list(), purposes);
  }

  /** Returns the catalogue of scopes, which is locked until the transaction ends, as are the purposes of the client. */
  private async checkRules(client: ClientShape): Promise<ScopeEntity[]> {
    const catalogue = await this.scopes.listAndHold();
    const purposes = await this.purposes.hold(client.purposes);
    const violations = clientViolations(client, catalogue, purposes);
    if (Object.keys(violations).length > 0) throw validationFailed(violations);
    return catalogue;
  }

  private missing(): never {
    throw clientNotFound();
  }
}

/** The 404 problem for a client id that no client has. */
export const clientNotFound = (): Problem => notFound('There is no client with this id.');

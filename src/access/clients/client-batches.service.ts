import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { AuditService, changesBetween, type Actor, type AuditEntry } from '#records/audit/audit.service.js';
import { Problem, validationFailed } from '#platform/http/problems/problem.js';
import { violation, type Violations } from '#platform/http/problems/violation.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import { clientViolations, DEFAULT_SECRET_OVERLAP_SECONDS } from './client-rules.js';
import { usesKeys, type ClientEntity } from './client.entity.js';
import { CLIENT, type NewClient } from './client.resource.js';
import { ClientsRepository, type ClientValues } from './clients.repository.js';
import { OperatorClientsService } from './operator-clients.service.js';

/** The desired state of a client. */
export interface WantedClient {
  id: string;
  isNew: boolean;
  input: NewClient;
  /** Undefined leaves it as it is; a new client is enabled. */
  enabled?: boolean;
}

type Values = ClientValues & { id: string };

/** Creates and changes many clients in a few statements, with the same rules and audit events as `ClientsService`. */
@Injectable()
export class ClientBatchesService {
  constructor(
    private readonly repository: ClientsRepository,
    private readonly scopes: ScopesService,
    private readonly purposes: PurposesService,
    private readonly operators: OperatorClientsService,
    private readonly events: DomainEvents,
    private readonly audit: AuditService,
    private readonly questions: DomainQuestions,
  ) {}

  /** All clients, by id. */
  list(): Promise<ClientEntity[]> {
    return this.repository.listAll();
  }

  /** Creates and changes clients in the caller's transaction. Returns the 400 problem of each refused client, by its index. */
  async put(wanted: readonly WantedClient[], actor: Actor): Promise<Map<number, Problem>> {
    const refused = new Map<number, Problem>();
    if (wanted.length === 0) return refused;
    const old = wanted.flatMap(({ id, isNew }) => (isNew ? [] : [id]));
    const before = new Map((await this.repository.lockAll(old)).map((client) => [client.id, client]));
    const catalogue = await this.scopes.listAndHold();
    const named = [...new Set(wanted.flatMap(({ input }) => input.purposes ?? []))];
    const purposes = await this.purposes.hold(named);
    const [created, changed]: [Values[], Values[]] = [[], []];
    for (const [n, each] of wanted.entries()) {
      const was = before.get(each.id);
      const values = {
        ...{ logoId: was?.logoId ?? null, enabled: each.enabled ?? was?.enabled ?? true, id: each.id },
        ...CLIENT.complete(each.input),
      };
      try {
        await this.check(was, values, { catalogue, purposes }, actor);
        (was ? changed : created).push(values);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.set(n, error);
      }
    }
    if (refused.size > 0) return refused;
    await this.repository.insertAll(created);
    await this.repository.updateAll(changed);
    for (const { id, enabled } of changed) {
      if (before.get(id)!.enabled && !enabled) {
        await this.events.say('client.access_ended', id, 'client_disabled');
      }
    }
    const withKeys = changed.filter((values) => usesKeys(values) && !usesKeys(before.get(values.id)!));
    if (withKeys.length > 0) await this.repository.endSecrets(withKeys.map(({ id }) => id));
    for (const { id } of withKeys) await this.events.say('client.secret_ended', id);
    const entries = [...created, ...changed].flatMap((values) => entryOf(before.get(values.id), values));
    await this.audit.recordAll(actor, entries);
    return refused;
  }

  /** The digests of the secrets of these clients, and whether each has expired. */
  secretsOf(ids: readonly string[]): ReturnType<ClientsRepository['digestsOf']> {
    return this.repository.digestsOf(ids);
  }

  /** Adds a secret to each of these clients; earlier ones stay valid for a day, also one that someone else adds at this moment. */
  async addSecrets(
    secrets: readonly { clientId: string; digest: Buffer; isNew: boolean }[],
    actor: Actor,
  ): Promise<void> {
    if (secrets.length === 0) return;
    await this.repository.lockAll(secrets.map(({ clientId }) => clientId));
    const until = await this.repository.addSecrets(secrets, DEFAULT_SECRET_OVERLAP_SECONDS);
    const rotated = secrets.filter(({ isNew }) => !isNew);
    await this.audit.recordAll(
      actor,
      rotated.map(({ clientId }) => ({
        ...{ action: 'client.secret_rotated', subjectType: 'client', subjectId: clientId },
        after: { previous_secret_expires_at: until.get(clientId)?.toISOString() ?? null },
      })),
    );
  }

  private async check(
    was: ClientEntity | undefined,
    values: Values,
    { catalogue, purposes }: { catalogue: ScopeEntity[]; purposes: string[] },
    actor: Actor,
  ): Promise<void> {
    const violations = { ...clientViolations(values, catalogue, purposes), ...(was && fixedIn(was, values)) };
    const { jwksUri } = values;
    const address =
      jwksUri === null || jwksUri === was?.jwksUri
        ? undefined
        : await this.questions.ask('client.key_address_violation', jwksUri);
    if (address) violations.jwks_uri = [address];
    if (Object.keys(violations).length > 0) throw validationFailed(violations);
    if (was?.enabled === values.enabled && was.companyService === values.companyService) return;
    await this.operators.requireBacking(values, catalogue, actor);
  }
}

/** Fields that cannot change after creation. */
const fixedIn = (was: ClientEntity, values: Values): Violations =>
  Object.fromEntries(
    CLIENT.list
      .filter(({ given, changeable, key }) => {
        const [one, other] = [was, values].map((each) => each[key as keyof ClientValues]);
        return given && !changeable && !isDeepStrictEqual(one, other);
      })
      .map(({ wire }) => [wire, [violation('fixed', { what: 'client' })]]),
  );

function entryOf(was: ClientEntity | undefined, values: Values): AuditEntry[] {
  const after = CLIENT.auditView(values as ClientEntity);
  const subject = { subjectType: 'client', subjectId: values.id } as const;
  if (!was) return [{ ...subject, action: 'client.created', after }];
  const difference = changesBetween(CLIENT.auditView(was), after);
  return difference ? [{ ...subject, action: 'client.updated', ...difference }] : [];
}

import { Injectable } from '@nestjs/common';
import { AuditService, changesBetween, SERVICE_ACTOR, type Actor } from '../../audit/audit.service.js';
import { ClientsService } from '../../clients/clients.service.js';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import { Transactions } from '../../database/transactions.js';
import type { Page, PageRequest } from '../../http/paging.js';
import { conflict, notFound, validationFailed } from '../../http/problem.js';
import { MESSAGES } from '../../notifications/message-catalogue.js';
import { NotificationsService } from '../../notifications/notifications.service.js';
import { isId, newId } from '../../secrets/ids.js';
import { EventTypesService } from '../event-types/event-types.service.js';
import { EndpointAddresses } from './endpoint-addresses.service.js';
import { EndpointSecrets } from './endpoint-secrets.service.js';
import { EndpointEntity, type EndpointDisabledReason } from './endpoint.entity.js';
import {
  EndpointsRepository,
  type EndpointFilter,
  type EndpointHour,
  type EndpointInList,
  type HourOfAllEndpoints,
} from './endpoints.repository.js';

/** Contract §11: at most so many a client. */
export const ENDPOINTS_PER_CLIENT = 50;
// In code points, as PostgreSQL counts.
const DESCRIPTION_MAX = 200;
// Contract §10: during a rotation both secrets sign for 24 hours.
const ROTATION_SECONDS = 86_400;

export interface NewEndpoint {
  url: string;
  description?: string;
  eventTypes: string[];
  enabled?: boolean;
}

export type EndpointChanges = Partial<NewEndpoint>;

/**
 * Where clients want their events to go (contract §10, §11). With a `clientId`, an endpoint of another client is a 404
 * problem. Every change is an audit event in its transaction.
 */
@Injectable()
export class EndpointsService {
  constructor(
    private readonly repository: EndpointsRepository,
    private readonly clients: ClientsService,
    private readonly eventTypes: EventTypesService,
    private readonly addresses: EndpointAddresses,
    private readonly secrets: EndpointSecrets,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
  ) {}

  /** A client's endpoints by id, with their attempts of the last 24 hours; throws a 404 problem for an unknown client. */
  async list(clientId: string, page: PageRequest): Promise<Page<EndpointInList>> {
    await this.clients.get(clientId);
    return this.repository.list({ clientId }, page);
  }

  /** The endpoints of all clients by id, with their attempts of the last 24 hours. */
  listAll(filter: EndpointFilter, page: PageRequest): Promise<Page<EndpointInList>> {
    return this.repository.list(filter, page);
  }

  /** The hours since a time in which anything was attempted, over all endpoints, oldest first. */
  hoursOfAll(since: Date): Promise<HourOfAllEndpoints[]> {
    return this.repository.hoursOfAll(since);
  }

  async get(id: string, clientId?: string): Promise<EndpointEntity> {
    return (isId('endp', id) ? await this.repository.find(id, clientId) : null) ?? this.missing();
  }

  /** The hours since a time that had attempts, oldest first. */
  hours(id: string, since: Date): Promise<EndpointHour[]> {
    return this.repository.hours(id, since);
  }

  /** Adds an endpoint; its secret is made here. Throws 400 with `field_errors`, and 409 beyond 50 endpoints. */
  async create(
    clientId: string,
    input: NewEndpoint,
    actor: Actor,
  ): Promise<{ endpoint: EndpointEntity; secret: string }> {
    const client = await this.clients.get(clientId);
    const url = await this.check(client.scopes, input);
    const id = newId('endp');
    const { secret, sealed } = this.secrets.make(id);
    const enabled = input.enabled ?? true;
    try {
      const endpoint = await this.transactions.run(async (manager) => {
        if ((await this.repository.lockClientAndCount(manager, clientId)) >= ENDPOINTS_PER_CLIENT) {
          throw conflict(`A client can have at most ${ENDPOINTS_PER_CLIENT} endpoints.`);
        }
        await manager.insert(EndpointEntity, {
          id,
          clientId,
          url: url!,
          description: input.description ?? '',
          eventTypes: input.eventTypes,
          enabled,
          disabledAt: enabled ? null : () => 'now()',
          sealedSecret: sealed,
        });
        const made = (await this.repository.find(id, clientId, manager))!;
        await this.audit.record(manager, actor, {
          action: 'webhook_endpoint.created',
          subjectType: 'webhook_endpoint',
          subjectId: id,
          after: auditView(made),
        });
        return made;
      });
      return { endpoint, secret };
    } catch (error) {
      if (!isForeignKeyViolation(error, 'webhook_endpoints_client_id_fkey')) throw error;
      throw notFound('There is no client with this id.');
    }
  }

  /** Changes what is given. Enabling again also forgets why the service disabled it. Throws 400 with `field_errors`. */
  async update(
    id: string,
    clientId: string | undefined,
    changes: EndpointChanges,
    actor: Actor,
  ): Promise<EndpointEntity> {
    const present = await this.get(id, clientId);
    const client = await this.clients.get(present.clientId);
    const url = await this.check(client.scopes, changes);
    return this.transactions.run(async (manager) => {
      const before = (await this.repository.lock(manager, id, clientId)) ?? this.missing();
      const turned = changes.enabled !== undefined && changes.enabled !== before.enabled;
      await manager.update(
        EndpointEntity,
        { id },
        {
          ...(url === undefined ? {} : { url }),
          ...(changes.description === undefined ? {} : { description: changes.description }),
          ...(changes.eventTypes === undefined ? {} : { eventTypes: changes.eventTypes }),
          ...(turned
            ? {
                enabled: changes.enabled!,
                disabledReason: null,
                disabledAt: changes.enabled ? null : () => 'now()',
                failingSince: null,
              }
            : {}),
          updatedAt: () => 'now()',
        },
      );
      const after = (await this.repository.find(id, clientId, manager))!;
      const difference = changesBetween(auditView(before), auditView(after));
      if (difference) {
        await this.audit.record(manager, actor, {
          action: 'webhook_endpoint.updated',
          subjectType: 'webhook_endpoint',
          subjectId: id,
          ...difference,
        });
      }
      return after;
    });
  }

  /** Deletes it: nothing more is sent to it, and what it was sent stays listed for as long as deliveries are kept. */
  async delete(id: string, clientId: string | undefined, actor: Actor): Promise<void> {
    if (!isId('endp', id)) this.missing();
    await this.transactions.run(async (manager) => {
      const before = (await this.repository.lock(manager, id, clientId)) ?? this.missing();
      await manager.update(EndpointEntity, { id }, { deletedAt: () => 'now()' });
      await this.audit.record(manager, actor, {
        action: 'webhook_endpoint.deleted',
        subjectType: 'webhook_endpoint',
        subjectId: id,
        before: auditView(before),
      });
    });
  }

  /** The signing secret in clear, for a person who asked for it; that it was shown is an audit event. 409 where it cannot be opened. */
  async revealSecret(id: string, clientId: string, actor: Actor): Promise<string> {
    const { sealedSecret } = await this.get(id, clientId);
    const secret = this.secrets.open(id, sealedSecret);
    if (secret === undefined) throw conflict('The secret can no longer be read. Rotate it to get a new one.');
    await this.transactions.run((manager) =>
      this.audit.record(manager, actor, {
        action: 'webhook_endpoint.secret_revealed',
        subjectType: 'webhook_endpoint',
        subjectId: id,
      }),
    );
    return secret;
  }

  /** A new signing secret; the one before signs beside it until the time returned (24 hours). */
  async rotateSecret(
    id: string,
    clientId: string | undefined,
    actor: Actor,
  ): Promise<{ secret: string; previousSecretExpiresAt: Date }> {
    if (!isId('endp', id)) this.missing();
    const { secret, sealed } = this.secrets.make(id);
    const previousSecretExpiresAt = await this.transactions.run(async (manager) => {
      if (!(await this.repository.lock(manager, id, clientId))) this.missing();
      const until = await this.repository.rotateSecret(manager, id, sealed, ROTATION_SECONDS);
      await this.audit.record(manager, actor, {
        action: 'webhook_endpoint.secret_rotated',
        subjectType: 'webhook_endpoint',
        subjectId: id,
        after: { previous_secret_expires_at: until.toISOString() },
      });
      return until;
    });
    return { secret, previousSecretExpiresAt };
  }

  /** The secrets that sign at this moment, the newest first. */
  async liveSecrets(id: string, clientId: string): Promise<string[]> {
    return this.secrets.openAll(id, await this.repository.liveSealedSecrets(id, clientId));
  }

  /** The service's own decision to send nothing more (410, or five days of failures): the client's owner is notified, once. */
  async disable(id: string, reason: EndpointDisabledReason): Promise<void> {
    await this.transactions.run(async (manager) => {
      const disabled = await this.repository.disable(manager, id, reason);
      if (!disabled) return;
      const { clientId, ownerId, url } = disabled;
      await this.notifications.raise(manager, ownerId, clientId, MESSAGES.endpointDisabled(url, reason));
      await this.audit.record(manager, SERVICE_ACTOR, {
        action: 'webhook_endpoint.disabled',
        subjectType: 'webhook_endpoint',
        subjectId: id,
        before: { enabled: true },
        after: { enabled: false, disabled_reason: reason },
      });
    });
  }

  /** The URL as it is stored; throws a 400 problem with `field_errors` for what is wrong with it. */
  private async check(scopes: string[], input: EndpointChanges): Promise<string | undefined> {
    const [address, types] = await Promise.all([
      input.url === undefined ? undefined : this.addresses.check(input.url),
      input.eventTypes === undefined ? [] : this.refusedTypes(scopes, input.eventTypes),
    ]);
    const fieldErrors = {
      ...(address?.refusal === undefined ? {} : { url: [address.refusal] }),
      ...(Array.from(input.description ?? '').length > DESCRIPTION_MAX
        ? { description: [`must have at most ${DESCRIPTION_MAX} characters`] }
        : {}),
      ...(types.length === 0 ? {} : { event_types: types }),
    };
    if (Object.keys(fieldErrors).length > 0) throw validationFailed(fieldErrors);
    return address?.url;
  }

  private async refusedTypes(scopes: string[], names: string[]): Promise<string[]> {
    if (names.length === 0) return ['must hold at least one event type'];
    const known = await this.eventTypes.list();
    return names.flatMap((name, index) => {
      const type = known.find((candidate) => candidate.name === name);
      if (!type) return [`type ${index + 1} is not in the event catalogue`];
      if (type.scope !== null && !scopes.includes(type.scope)) {
        return [`${type.name} needs the scope ${type.scope}, which this client does not have`];
      }
      return [];
    });
  }

  private missing(): never {
    throw notFound('There is no webhook endpoint with this id.');
  }
}

const auditView = (endpoint: EndpointEntity) => ({
  client_id: endpoint.clientId,
  url: endpoint.url,
  description: endpoint.description,
  event_types: endpoint.eventTypes,
  enabled: endpoint.enabled,
  disabled_reason: endpoint.disabledReason,
});

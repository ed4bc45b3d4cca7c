import { Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { AuditService, changesBetween, SERVICE_ACTOR, type Actor } from '#records/audit/audit.service.js';
import { clientNotFound, ClientsService } from '#access/clients/clients.service.js';
import { isForeignKeyViolation, isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { isId, newId } from '#platform/secrets/ids.js';
import { realmOf } from '#access/users/accounts/environment.js';
import { written, type Condition } from '../filters/condition.js';
import { filterOf } from '../filters/condition-path.js';
import { inOrder } from '../signing/sign-delivery.js';
import type { ClientCredentials } from '../receiver-tokens/client-credentials.js';
import { ReceiverCredentials } from '../receiver-tokens/receiver-credentials.service.js';
import { WebhookKeys } from '../signing/webhook-keys.service.js';
import { EndpointTroubles } from './endpoint-troubles.js';
import type { EndpointHeaders } from './endpoint-headers.js';
import { EndpointRules } from './endpoint-rules.service.js';
import { EndpointSecrets } from './endpoint-secrets.service.js';
import { DISABLED_BECAUSE, type EndpointDisabledReason, type EndpointEntity } from './endpoint.entity.js';
import { ENDPOINT, type EndpointChanges, type NewEndpoint } from './endpoint.resource.js';
import { EndpointsRepository, type EndpointFilter } from './endpoints.repository.js';
import type { EndpointInList, EndpointHour, HourlyAttempts } from './endpoint-health.js';

/** Contract §11: the maximum per client. */
export const ENDPOINTS_PER_CLIENT = 50;
// Contract §10: during a rotation both secrets sign for 24 hours.
const ROTATION_SECONDS = 86_400;

export interface RotatedEndpointSecret {
  secret: string;
  previousSecretExpiresAt: Date;
}

export interface AddedEndpoint {
  endpoint: EndpointEntity;
  secret: string;
}

/**
 * Webhook endpoints of clients (contract §10, §11). With a `clientId`, an endpoint of another client is a 404 problem. Every
 * change is an audit event in its transaction.
 */
@Injectable()
export class EndpointsService {
  private readonly logger = new Logger(EndpointsService.name);

  constructor(
    private readonly repository: EndpointsRepository,
    private readonly clients: ClientsService,
    private readonly rules: EndpointRules,
    private readonly secrets: EndpointSecrets,
    private readonly credentials: ReceiverCredentials,
    private readonly webhookKeys: WebhookKeys,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
    private readonly troubles: EndpointTroubles,
  ) {}

  /** A client's endpoints by id, with their attempts of the last 24 hours; throws a 404 problem for an unknown client. */
  async list(clientId: string, page: PageRequest): Promise<Page<EndpointInList>> {
    await this.clients.get(clientId);
    return this.repository.list({ clientId }, page);
  }

  /** The ids and URLs of the first ones of all clients, by id. */
  async firstNames(limit: number): Promise<{ id: string; name: string }[]> {
    return (await this.repository.firstUrls(limit)).map(({ id, url }) => ({ id, name: url }));
  }

  /** The endpoints of all clients by id, with their attempts of the last 24 hours. */
  listAll(filter: EndpointFilter, page: PageRequest): Promise<Page<EndpointInList>> {
    return this.repository.list(filter, page);
  }

  /** The hours with attempts since a time, over all endpoints, oldest first. */
  hoursOfAll(since: Date, clientId?: string): Promise<HourlyAttempts[]> {
    return this.repository.hoursOfAll(since, clientId);
  }

  async get(id: string, clientId?: string): Promise<EndpointEntity> {
    return (isId('endp', id) ? await this.repository.find(id, clientId) : null) ?? this.missing();
  }

  /** The hours with attempts since a time, oldest first. */
  hours(id: string, since: Date): Promise<EndpointHour[]> {
    return this.repository.hours(id, since);
  }

  /** Adds an endpoint with a new secret. Throws 400 with `field_errors`, and 409 beyond 50 endpoints. */
  create(clientId: string, input: NewEndpoint, actor: Actor): Promise<AddedEndpoint> {
    return this.add(newId('endp'), clientId, input, actor);
  }

  /**
   * The same with an id chosen beforehand; undefined if an endpoint with this id exists because the same form was posted before.
   */
  async createOnce(
    id: string,
    clientId: string,
    input: NewEndpoint,
    actor: Actor,
  ): Promise<AddedEndpoint | undefined> {
    try {
      return await this.add(id, clientId, input, actor);
    } catch (error) {
      if (!isUniqueViolation(error, 'webhook_endpoints_pkey')) throw error;
      return undefined;
    }
  }

  private async add(id: string, clientId: string, input: NewEndpoint, actor: Actor): Promise<AddedEndpoint> {
    const client = await this.clients.get(clientId);
    const { url, tokenUrl = '' } = await this.rules.check(client, input);
    const { secret, sealed } = this.secrets.make(id);
    const { headerNames, sealedHeaders } = this.secrets.changedHeaders(id, null, input.headers ?? {});
    const credentials = this.credentials.changed(id, undefined, input.authentication ?? null, tokenUrl);
    this.rules.checkAuthorization({ headerNames, ...credentials });
    try {
      const endpoint = await this.transactions.run(async () => {
        if ((await this.repository.lockClientAndCountOthers(clientId, id)) >= ENDPOINTS_PER_CLIENT) {
          throw conflict(`A client can have at most ${ENDPOINTS_PER_CLIENT} endpoints.`);
        }
        await this.rules.holdTypes(client.scopes, input.eventTypes);
        await this.repository.insert({
          id,
          clientId,
          realm: realmOf(client),
          ...ENDPOINT.complete(input),
          ...filterColumns(input.filters ?? []),
          signatureVersions: inOrder(input.signatureVersions ?? ['v1']),
          url: url!,
          sealedSecret: sealed,
          ...{ headerNames, sealedHeaders },
          ...credentials,
        });
        if (input.signatureVersions?.includes('v1a')) await this.webhookKeys.make(clientId);
        const made = (await this.repository.find(id, clientId))!;
        await this.audit.record(actor, {
          action: 'webhook_endpoint.created',
          subjectId: id,
          after: ENDPOINT.auditView(made),
        });
        return made;
      });
      return { endpoint, secret };
    } catch (error) {
      if (!isForeignKeyViolation(error, 'webhook_endpoints_client_id_fkey')) throw error;
      throw clientNotFound();
    }
  }

  /**
   * Changes the given members. Enabling it also clears the reason why the service disabled it. Throws 400 with `field_errors`.
   */
  async update(
    id: string,
    clientId: string | undefined,
    changes: EndpointChanges,
    actor: Actor,
  ): Promise<EndpointEntity> {
    const present = await this.get(id, clientId);
    const client = await this.clients.get(present.clientId);
    const { url, tokenUrl = '', catalogue } = await this.rules.check(client, changes, present);
    return this.transactions.run(async () => {
      const before = (await this.repository.lock(id, clientId)) ?? this.missing();
      if (changes.eventTypes) await this.rules.holdTypes(client.scopes, changes.eventTypes);
      this.rules.checkFilters(catalogue, changes, before);
      if (changes.signatureVersions?.includes('v1a')) await this.webhookKeys.make(before.clientId);
      const turned = changes.enabled !== undefined && changes.enabled !== before.enabled;
      const headers =
        changes.headers && this.secrets.changedHeaders(id, before.sealedHeaders, changes.headers);
      const credentials =
        changes.authentication === undefined
          ? undefined
          : this.credentials.changed(id, before, changes.authentication, tokenUrl);
      this.rules.checkAuthorization({ ...before, ...headers, ...credentials });
      await this.repository.update(id, {
        url: url === before.url ? undefined : url,
        description: changes.description,
        eventTypes: changes.eventTypes,
        ...(changes.filters && filterColumns(changes.filters)),
        ordered: changes.ordered === before.ordered ? undefined : changes.ordered,
        batch: changes.batch,
        signatureVersions: changes.signatureVersions && inOrder(changes.signatureVersions),
        enabled: turned ? changes.enabled : undefined,
        maxPerMinute: changes.maxPerMinute === before.maxPerMinute ? undefined : changes.maxPerMinute,
        ...(headers && headers.changed !== undefined
          ? { headerNames: headers.headerNames, sealedHeaders: headers.sealedHeaders }
          : {}),
        ...credentials,
      });
      const after = (await this.repository.find(id, clientId))!;
      const difference = changesBetween(ENDPOINT.auditView(before), {
        ...ENDPOINT.auditView(after),
        headers: headersShown(after.headerNames, headers?.changed),
        authentication: credentialsShown(after.authentication, changes.authentication?.client_secret),
      });
      if (difference) {
        await this.audit.record(actor, {
          action: 'webhook_endpoint.updated',
          subjectId: id,
          ...difference,
        });
      }
      return after;
    });
  }

  /** Deletes it. Nothing more is sent to it, and its past deliveries stay listed for as long as deliveries are kept. */
  async delete(id: string, clientId: string | undefined, actor: Actor): Promise<void> {
    if (!isId('endp', id)) this.missing();
    await this.transactions.run(async () => {
      const before = (await this.repository.lock(id, clientId)) ?? this.missing();
      await this.repository.markDeleted(id);
      await this.audit.record(actor, {
        action: 'webhook_endpoint.deleted',
        subjectId: id,
        before: ENDPOINT.auditView(before),
      });
    });
  }

  /**
   * The signing secret in clear text, for a person who asked for it; revealing it is an audit event. 409 if it cannot be
   * decrypted.
   */
  async revealSecret({ id, sealedSecret }: EndpointEntity, actor: Actor): Promise<string> {
    const secret = this.secrets.open(id, sealedSecret);
    if (secret === undefined)
      throw conflict('The secret can no longer be decrypted. Rotate it to get a new one.');
    await this.transactions.run(() =>
      this.audit.record(actor, { action: 'webhook_endpoint.secret_revealed', subjectId: id }),
    );
    return secret;
  }

  /** Its own headers with their values, for a person who asked for them; an audit event. 409 if they cannot be decrypted. */
  async revealHeaders({ id, sealedHeaders }: EndpointEntity, actor: Actor): Promise<EndpointHeaders> {
    const headers = this.secrets.openHeaders(id, sealedHeaders);
    if (headers === undefined) throw conflict('The headers can no longer be decrypted. Enter them again.');
    await this.transactions.run(() =>
      this.audit.record(actor, { action: 'webhook_endpoint.headers_revealed', subjectId: id }),
    );
    return headers;
  }

  /** A new signing secret; the previous one also signs until the returned time (24 hours). */
  async rotateSecret(id: string, clientId: string | undefined, actor: Actor): Promise<RotatedEndpointSecret> {
    return (await this.rotate(id, clientId, actor))!;
  }

  /** The same if the current secret is still the one named by `nameOfSecret`; undefined if it was rotated since. */
  rotateSecretOnce(
    id: string,
    clientId: string,
    present: string,
    actor: Actor,
  ): Promise<RotatedEndpointSecret | undefined> {
    return this.rotate(id, clientId, actor, present);
  }

  private async rotate(
    id: string,
    clientId: string | undefined,
    actor: Actor,
    present?: string,
  ): Promise<RotatedEndpointSecret | undefined> {
    if (!isId('endp', id)) this.missing();
    const { secret, sealed } = this.secrets.make(id);
    const previousSecretExpiresAt = await this.transactions.run(async () => {
      if (!(await this.repository.lock(id, clientId))) this.missing();
      const until = await this.repository.rotateSecret(id, present, sealed, ROTATION_SECONDS);
      if (until === undefined) return undefined;
      await this.audit.record(actor, {
        action: 'webhook_endpoint.secret_rotated',
        subjectId: id,
        after: { previous_secret_expires_at: until.toISOString() },
      });
      return until;
    });
    return previousSecretExpiresAt && { secret, previousSecretExpiresAt };
  }

  /** The secrets that currently sign, newest first. */
  async liveSecrets(id: string, clientId: string): Promise<string[]> {
    const sealed = await this.repository.liveSealedSecrets(id, clientId);
    return sealed.flatMap((one) => this.secrets.open(id, one) ?? []);
  }

  /**
   * Disables an endpoint by decision of the service (410, or five days of failures) if this is still its URL; the client's owner is
   * notified once.
   */
  async disable(id: string, urlThen: string, reason: EndpointDisabledReason): Promise<void> {
    const isDone = await this.transactions.run(async () => {
      const disabled = await this.repository.disable(id, urlThen, reason);
      if (!disabled) return false;
      const { clientId, ownerId, url } = disabled;
      await this.notifications.raise(ownerId, clientId, MESSAGES.endpointDisabled(url, reason));
      await this.troubles.disabled(disabled, reason);
      await this.audit.record(SERVICE_ACTOR, {
        action: 'webhook_endpoint.disabled',
        subjectId: id,
        before: { enabled: true },
        after: { enabled: false, disabled_reason: reason },
      });
      return true;
    });
    if (isDone) this.logger.warn(`Webhook endpoint ${id} was disabled: it ${DISABLED_BECAUSE[reason]}`);
  }

  /** Tells those who want to know that an endpoint is failing, at most daily. */
  async tellFailing(id: string): Promise<void> {
    if (!this.troubles.isHeard) return;
    await this.transactions.run(async () => {
      const endpoint = await this.repository.markTold(id);
      if (endpoint) await this.troubles.failing(endpoint);
    });
  }

  private missing(): never {
    throw notFound('There is no webhook endpoint with this id.');
  }
}

/** The conditions of an endpoint, as they are shown and as PostgreSQL judges by them. */
function filterColumns(conditions: Condition[]): Pick<EndpointEntity, 'filters' | 'filter'> {
  const filters = conditions.map(written);
  return { filters, filter: filterOf(filters) };
}

/** The names of the headers, and which of them have a new value. */
const headersShown = (names: readonly string[], newValues: readonly string[] = []): string[] =>
  names.map((name) => (newValues.includes(name) ? `${name} (new value)` : name));

/** Where its token comes from, and whether the secret for it is new. */
const credentialsShown = (shown: ClientCredentials | null, newSecret: string | null | undefined) =>
  shown && typeof newSecret === 'string' ? { ...shown, client_secret: '(new value)' } : shown;

/** Identifies the current signing secret without revealing it: a digest of its sealed form, which includes a nonce. */
export const nameOfSecret = ({ sealedSecret }: EndpointEntity): string =>
  createHash('sha256').update(sealedSecret).digest('hex');

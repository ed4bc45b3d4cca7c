import { Injectable } from '@nestjs/common';
import { AuditService, SERVICE_ACTOR, type Actor } from '#records/audit/audit.service.js';
import { redirectUrisAfter, type RedirectUriChange } from '#access/clients/client-rules.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { redirectUriViolation } from '#access/clients/redirect-uri.js';
import { isUniqueViolation } from '#platform/database/queries/database-errors.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound, Problem, validationFailed } from '#platform/http/problems/problem.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { isId, newId } from '#platform/secrets/ids.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import type { RedirectUriRequestEntity } from './redirect-uri-request.entity.js';
import {
  RedirectUriRequestsRepository,
  type RedirectUriRequestFilter,
} from './redirect-uri-requests.repository.js';
import { apiWords } from '#platform/http/problems/violation.js';
import { inWords } from '#access/users/accounts/own-words.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';

/** Contract §20: the maximum of pending requests per client. */
const WAITING_PER_CLIENT = 10;
// Contract §2.
const URIS_PER_CLIENT = 20;

/**
 * Redirect URIs that partners ask to register or to remove (contract §20). Nothing changes until an operator approves; the
 * approval and the change are one transaction, and the first of two concurrent decisions counts. Those of a sandbox client are
 * approved at once.
 */
@Injectable()
export class RedirectUriRequestsService {
  constructor(
    private readonly repository: RedirectUriRequestsRepository,
    private readonly clients: ClientsService,
    private readonly members: MembersService,
    private readonly protection: OperatorProtectionService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** Newest first. */
  list(filter: RedirectUriRequestFilter, page: PageRequest): Promise<Page<RedirectUriRequestEntity>> {
    return this.repository.list(filter, page);
  }

  /** The request; throws a 404 problem. */
  async get(id: string): Promise<RedirectUriRequestEntity> {
    return (isId('ruri', id) ? await this.repository.find(id) : null) ?? missing();
  }

  countPending(): Promise<number> {
    return this.repository.countPending();
  }

  /**
   * Requests a change. Throws a 400 problem with `field_errors` for a URI that may not be registered, and a 409 problem for a
   * change that was made already, waits already, or would leave the client without a URI; also beyond 20 URIs, and beyond 10
   * pending requests.
   */
  async ask(
    clientId: string,
    change: RedirectUriChange,
    userId: string,
    actor: Actor,
  ): Promise<RedirectUriRequestEntity> {
    const id = newId('ruri');
    try {
      return await this.transactions.run(async () => {
        const client = await this.clients.lock(clientId);
        checkUri(client, change);
        checkChange(client, change);
        if ((await this.repository.countPending(clientId)) >= WAITING_PER_CLIENT) {
          throw conflict(`At most ${WAITING_PER_CLIENT} requests can wait for each client.`);
        }
        await this.repository.insert({ id, clientId, ...change, requestedBy: userId });
        const request = (await this.repository.find(id))!;
        await this.record('redirect_uri_request.asked', request, actor);
        return isSandbox(client) ? this.carryOut(client, id, SERVICE_ACTOR) : request;
      });
    } catch (error) {
      if (!isUniqueViolation(error, 'redirect_uri_requests_pending_key')) throw error;
      throw conflict('A request about this URI is waiting already.');
    }
  }

  /**
   * Approves a request and changes the client. Throws a 404 problem for an unknown request, a 409 problem for one that is not
   * pending, and a 409 problem with the reason for one that has become impossible, which stays pending.
   */
  async approve(id: string, actor: Actor): Promise<RedirectUriRequestEntity> {
    const { clientId } = await this.get(id);
    return this.transactions.run(async () => {
      // Locked first, in the order of everything that changes operators' roles.
      await this.protection.requireAdmin(actor);
      const client = await this.clients.lock(clientId);
      return this.carryOut(client, id, actor);
    });
  }

  /** Rejects a request. Throws a 404 problem for an unknown one, and a 409 problem for one that is not pending. */
  async reject(id: string, reason: string | null, actor: Actor): Promise<RedirectUriRequestEntity> {
    const { clientId } = await this.get(id);
    return this.transactions.run(async () => {
      await this.protection.requireAdmin(actor);
      const client = await this.clients.lock(clientId);
      const request = await this.decide(id, 'rejected', actor, reason);
      await this.record('redirect_uri_request.rejected', request, actor);
      const message = MESSAGES.redirectUriRejected(client.name, request.action, request.uri, reason);
      await this.members.tellAdmins(client.ownerId, message);
      return request;
    });
  }

  private async carryOut(client: ClientEntity, id: string, actor: Actor): Promise<RedirectUriRequestEntity> {
    const request = await this.decide(id, 'approved', actor, null);
    try {
      checkUri(client, request);
      checkChange(client, request);
      await this.clients.changeRedirectUri(client, request, actor);
    } catch (error) {
      if (error instanceof Problem && error.status === 400) throw conflict(reasonOf(error));
      throw error;
    }
    await this.record('redirect_uri_request.approved', request, actor);
    const message = MESSAGES.redirectUriApproved(client.name, request.action, request.uri);
    await this.members.tellAdmins(client.ownerId, message);
    return request;
  }

  private async decide(
    id: string,
    state: 'approved' | 'rejected',
    actor: Actor,
    reason: string | null,
  ): Promise<RedirectUriRequestEntity> {
    const decided = await this.repository.decide(id, state, actor, reason);
    if (decided) return decided;
    const found = (await this.repository.find(id)) ?? missing();
    throw conflict(`This is not pending: it is ${found.state}.`);
  }

  private record(
    action: string,
    { id, clientId, action: what, uri }: RedirectUriRequestEntity,
    actor: Actor,
  ): Promise<void> {
    return this.audit.record(actor, {
      action,
      subjectType: 'redirect_uri_request',
      subjectId: id,
      after: { client_id: clientId, action: what, uri },
    });
  }

  @Answers('user.personal_data')
  askedFor() {
    return section({
      name: 'redirect_uri_requests',
      place: 92,
      title: say('Changes that you asked for in the webhook portal'),
      about: say('Redirect URIs that you asked us to register or to remove.'),
      read: async (userId: string, limit: number) => {
        const found = await this.repository.listBy(userId, limit);
        return found.map((request) =>
          recordOf(request, 'id', 'clientId', 'action', 'uri', 'state', 'requestedAt', 'decidedAt'),
        );
      },
      columns: {
        [say('Redirect URI')]: ({ uri }) => uri,
        [say('What')]: ({ action }) => inWords(action),
        [say('State')]: ({ state }) => inWords(state),
        [say('Asked')]: ({ requested_at: at }) => at,
      },
    });
  }
}

/** Whether the request needs no approval (contract §19). */
const isSandbox = ({ environment }: ClientEntity): boolean => environment === 'sandbox';

/** Throws a 400 problem for a URI that the client may not register (contract §3). */
function checkUri({ type }: ClientEntity, { action, uri }: RedirectUriChange): void {
  const found = action === 'add' ? redirectUriViolation(uri, type) : undefined;
  if (found) throw validationFailed({ uri: [found] });
}

/** Throws a 409 problem for a change that was made already, or is not possible. */
function checkChange(client: ClientEntity, change: RedirectUriChange): void {
  const isRegistered = client.redirectUris.includes(change.uri);
  if (change.action === 'add' && isRegistered) throw conflict('This URI is registered already.');
  if (change.action === 'remove' && !isRegistered) throw conflict('This URI is not registered.');
  const redirectUris = redirectUrisAfter(client, change);
  if (redirectUris.length > URIS_PER_CLIENT) {
    throw conflict(`A client can have at most ${URIS_PER_CLIENT} redirect URIs.`);
  }
  const usesCodes = client.grantTypes.includes('authorization_code');
  if (usesCodes && redirectUris.length === 0) {
    throw conflict('This is the last redirect URI: the client needs at least one.');
  }
}

const reasonOf = ({ detail, extras }: Problem): string =>
  Object.values(extras.violations ?? {})
    .flat()
    .map((found) => `The URI ${apiWords(found)}.`)
    .join(' ') || detail;

function missing(): never {
  throw notFound('There is no request with this id.');
}

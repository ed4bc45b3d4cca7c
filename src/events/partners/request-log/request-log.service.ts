import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { WriteBehind } from '#platform/database/background/write-behind.js';
import { answeredRequest } from '#records/requests/answered-request.entity.js';
import type { ClientRequestEntity, NewClientRequest } from './client-request.entity.js';
import { ClientRequestsRepository, REQUESTS_KEPT, type RequestFilter } from './client-requests.repository.js';

// Between two writes. Beyond them, requests of further clients are counted but not logged.
const CLIENTS_MAX = 500;
const BATCH = 1_000;

/** The requests of one client since the last write: the newest ones, and the number of all. */
interface Recent {
  /** Filled in turn: the oldest one is overwritten. */
  requests: NewClientRequest[];
  next: number;
  /** By what they went to. */
  counts: { api: number; oauth: number };
}

/**
 * The last requests of each client (contract §20), and their number by the hour: noted in this process after the answer, and written every
 * few seconds, many at once. A client's busiest seconds cost no more than its last requests. What is not yet written is lost when an
 * instance is killed.
 */
@Injectable()
export class RequestLogService extends WriteBehind {
  private recent = new Map<string, Recent>();

  constructor(
    private readonly repository: ClientRequestsRepository,
    private readonly activity: ActivityService,
    server: HttpAdapterHost,
  ) {
    super(server);
  }

  /** The client's last requests, newest first, including what this instance has only just noted. */
  async list(clientId: string, filter: RequestFilter): Promise<ClientRequestEntity[]> {
    await this.flush();
    return this.repository.list(clientId, filter);
  }

  /** Up to `limit` requests with this id, of one client or of any, newest first. */
  async withId(
    requestId: string,
    clientId: string | undefined,
    limit: number,
  ): Promise<ClientRequestEntity[]> {
    await this.flush();
    return this.repository.withId(requestId, clientId, limit);
  }

  /** Up to `limit` requests of a client before a time, that one included, newest first. */
  async before(clientId: string, time: Date, limit: number): Promise<ClientRequestEntity[]> {
    await this.flush();
    return this.repository.before(clientId, time, limit);
  }

  /** The activity may have been written for the last time already, and this write counts requests in it. */
  protected override async flushLast(): Promise<void> {
    await this.flush();
    await this.activity.flush();
  }

  /** Only requests whose sender proved to be the client, or to hold its token: anybody can send a client's id. */
  protected override noteAnswer(request: FastifyRequest, reply: FastifyReply): void {
    const clientId = request.oauthClient?.id ?? request.principal?.client.id ?? request.refusedClientId;
    if (clientId === undefined) return;
    const answered = answeredRequest(request, reply);
    const detail = answered.route.startsWith('/o/') ? 'oauth' : 'api';
    const recent = this.recentOf(clientId);
    if (!recent) return this.activity.countMany({ kind: 'request', detail, clientId }, 1);
    recent.counts[detail]++;
    // The new member first: docs/decisions/0008.
    recent.requests[recent.next] = { clientId, ...answered };
    recent.next = (recent.next + 1) % REQUESTS_KEPT;
  }

  private recentOf(clientId: string): Recent | undefined {
    const known = this.recent.get(clientId);
    if (known) return known;
    if (this.recent.size >= CLIENTS_MAX) return undefined;
    const created: Recent = { requests: [], next: 0, counts: { api: 0, oauth: 0 } };
    this.recent.set(clientId, created);
    return created;
  }

  protected async write(): Promise<void> {
    if (this.recent.size === 0) return;
    const written = this.recent;
    this.recent = new Map();
    for (const [clientId, { counts }] of written) {
      for (const detail of ['api', 'oauth'] as const) {
        this.activity.countMany({ kind: 'request', detail, clientId }, counts[detail]);
      }
    }
    try {
      for (const batch of batchesOf([...written.values()].map(({ requests }) => requests))) {
        await this.repository.insert(batch);
        const clientIds = [...new Set(batch.map(({ clientId }) => clientId))];
        await this.repository.trim(clientIds);
      }
    } catch (error) {
      // The database is unavailable. The log only helps with recent requests, so it just continues with the next ones.
      this.logger.warn(`Requests of clients could not be written: ${(error as Error).message}`);
    }
  }
}

/** The requests of all clients in batches of a few clients each. */
function batchesOf(ofClients: NewClientRequest[][]): NewClientRequest[][] {
  const batches: NewClientRequest[][] = [];
  for (const requests of ofClients) {
    const last = batches.at(-1);
    if (last && last.length + requests.length <= BATCH) last.push(...requests);
    else batches.push([...requests]);
  }
  return batches;
}

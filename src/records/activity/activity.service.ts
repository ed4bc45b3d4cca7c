import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { WriteBehind } from '#platform/database/background/write-behind.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import {
  type ActivityEvent,
  type ActivityKind,
  type Counted,
  type CountedSince,
  type HourlyTotal,
  type RefusedClient,
  CREDENTIALS_REFUSALS,
} from './activity.js';
import { ActivityRepository, ERASED_CHANNEL } from './activity.repository.js';
import { Counter } from 'prom-client';

const issued = new Counter({
  name: 'oauth_tokens_issued_total',
  help: 'Access tokens issued by grant type',
  labelNames: ['grant_type'] as const,
});
const unauthenticated = new Counter({
  name: 'oauth_client_authentication_failures_total',
  help: 'Clients that could not authenticate, by reason',
  labelNames: ['reason'] as const,
});
const bearerRefused = new Counter({
  name: 'bearer_refusals_total',
  help: 'Bearer tokens refused by reason',
  labelNames: ['reason'] as const,
});
const signIns = new Counter({
  name: 'sign_ins_total',
  help: 'Attempts to log in by result; slowed: not checked, because too many failed before',
  labelNames: ['result'] as const,
});

type Child = { inc(): void };

const isOfCredentials = (detail: string): boolean => CREDENTIALS_REFUSALS.some((each) => each === detail);

/** The counter that each kind of event increments; the rate limiter itself counts requests near or over a limit. */
const CHILD_OF: Record<ActivityKind, ((detail: string) => Child | undefined) | undefined> = {
  token_issued: (detail) => issued.labels(detail),
  // The endpoints count their error codes themselves.
  token_refused: (detail) => (isOfCredentials(detail) ? unauthenticated.labels(detail) : undefined),
  bearer_refused: (detail) => bearerRefused.labels(detail),
  sign_in: () => signIns.labels('succeeded'),
  sign_in_refused: (detail) => signIns.labels(detail === 'too_many' ? 'slowed' : 'failed'),
  rate_limited: undefined,
  rate_limit_near: undefined,
  request: undefined,
};

/** Looked up once per kind and detail. Both come from fixed lists, so there are few. */
const children = new Map<string, Child | undefined>();

/** Increments the metric for this kind of event. */
function countInMetrics(kind: ActivityKind, detail: string): void {
  const key = `${kind} ${detail}`;
  let child = children.get(key);
  if (child === undefined && !children.has(key)) {
    child = CHILD_OF[kind]?.(detail);
    children.set(key, child);
  }
  child?.inc();
}

// Initialized at start: a counter that appears with its first event hides that event from a rate.
for (const result of ['succeeded', 'failed', 'slowed']) signIns.inc({ result }, 0);
for (const grant_type of ['authorization_code', 'client_credentials', 'refresh_token']) {
  issued.inc({ grant_type }, 0);
}

// If more than this many distinct events occur between two writes, the rest count as "other".
const DISTINCT_MAX = 4_000;
const OTHER = 'other';

/**
 * Counts events by the hour, for the console: immediately in this process, and every few seconds in the database with one
 * statement. Counts not yet written are lost when an instance is killed, which is acceptable for charts.
 */
@Injectable()
export class ActivityService extends WriteBehind {
  private counts = new Map<string, Counted>();

  constructor(
    private readonly repository: ActivityRepository,
    private readonly transactions: Transactions,
    server: HttpAdapterHost,
    listener: Listener,
  ) {
    super(server);
    listener.listen(ERASED_CHANNEL, {
      onConnected: () => undefined,
      onAnnouncement: (addresses) => void this.forgetErased(addresses),
    });
  }

  /** Counts an event for its client and, unless it is of a sandbox, in the total and the metrics. Costs no query. */
  count({ kind, detail, client, request, address }: ActivityEvent): void {
    const isOfSandbox = client?.environment === 'sandbox';
    if (request) request.refusal = { kind, detail, clientId: client?.id, isOfSandbox };
    const once = { kind, detail, count: 1, lastAt: new Date(), lastAddress: request?.ip ?? address ?? null };
    this.add({ clientId: client?.id ?? '', ...once });
    if (!isOfSandbox) countInMetrics(kind, detail);
  }

  /** Counts an event of a client several times, without metrics. */
  countMany({ kind, detail, clientId }: Pick<Counted, 'kind' | 'detail' | 'clientId'>, count: number): void {
    if (count === 0) return;
    this.add({ clientId, kind, detail, count, lastAt: new Date(), lastAddress: null });
  }

  /** How often each kind of event occurred in each hour since a time, for one client. */
  hoursOf(clientId: string, kinds: ActivityKind[], since: Date): Promise<HourlyTotal[]> {
    return this.repository.hoursOf(clientId, kinds, since);
  }

  /** How often each kind of event occurred in each hour since a time, over all clients. */
  hoursOfAll(since: Date): Promise<HourlyTotal[]> {
    return this.repository.hoursOfAll(since);
  }

  /** The activity of a client since a time, latest first. */
  ofClient(clientId: string, kinds: ActivityKind[], since: Date): Promise<CountedSince[]> {
    return this.repository.ofClient(clientId, kinds, since);
  }

  /** Up to `limit` clients with the most refusals in the last 24 hours. */
  mostRefused(limit: number): Promise<RefusedClient[]> {
    return this.repository.mostRefused(limit);
  }

  /** Up to `limit` clients that were near or over their limit within the last hour or two. */
  nearLimit(limit: number): Promise<RefusedClient[]> {
    return this.repository.nearLimit(limit);
  }

  /**
   * Removes the addresses of an erased person, in the caller's transaction, and after it on every instance, which may have counted
   * them and not written them yet; the counts stay.
   */
  async forgetAddresses(addresses: string[]): Promise<void> {
    this.forgetCounted(addresses);
    await this.repository.forgetAddresses(addresses);
    await this.repository.announceErased(addresses);
  }

  private async forgetErased(announced: string): Promise<void> {
    try {
      const addresses = JSON.parse(announced) as string[];
      this.forgetCounted(addresses);
      // A write that is under way may hold them.
      await this.flush();
      await this.transactions.run(() => this.repository.forgetAddresses(addresses));
    } catch (error) {
      this.logger.warn(`Addresses of an erased person may stay counted: ${(error as Error).message}`);
    }
  }

  private forgetCounted(addresses: string[]): void {
    for (const counted of this.counts.values()) {
      if (counted.lastAddress && addresses.includes(counted.lastAddress)) counted.lastAddress = null;
    }
  }

  private add(counted: Counted): void {
    const key = `${counted.clientId} ${counted.kind} ${counted.detail}`;
    const known = this.counts.get(key);
    if (known) {
      known.count += counted.count;
      if (counted.lastAt >= known.lastAt) {
        known.lastAt = counted.lastAt;
        known.lastAddress = counted.lastAddress;
      }
    } else if (this.counts.size < DISTINCT_MAX || counted.detail === OTHER) {
      this.counts.set(key, { ...counted });
    } else {
      this.add({ ...counted, clientId: '', detail: OTHER });
    }
  }

  protected async write(): Promise<void> {
    if (this.counts.size === 0) return;
    const counts = [...this.counts.values()];
    this.counts = new Map();
    try {
      await this.repository.add(counts);
    } catch (error) {
      this.logger.warn(`Counts could not be written: ${(error as Error).message}`);
      // The database is unavailable, so the counts are written next time.
      for (const counted of counts) this.add(counted);
    }
  }
}

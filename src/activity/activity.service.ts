import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Interval } from '@nestjs/schedule';
import type { FastifyInstance } from 'fastify';
import { Transactions } from '../database/transactions.js';
import { countInMetrics } from './activity-metrics.js';
import { EVERYBODY, type ActivityKind, type Counted, type Happening } from './activity.js';
import { ActivityRepository, type ClientNearLimit, type HourOfAll } from './activity.repository.js';

const FLUSH_EVERY_MS = 5_000;
// More different things than this between two writes are counted as "other".
const DISTINCT_MAX = 4_000;
const OTHER = 'other';

/**
 * Counts what happens, by the hour, for the console: in this process at once, in the database every few seconds with one
 * statement. What an instance counted since then is lost when it is killed: these are pictures, not accounts.
 */
@Injectable()
export class ActivityService implements OnModuleInit {
  private readonly logger = new Logger(ActivityService.name);
  private counts = new Map<string, Counted>();
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly repository: ActivityRepository,
    private readonly transactions: Transactions,
    private readonly server: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    // When the last request is served, and before the pool of connections is closed.
    this.server.httpAdapter.getInstance<FastifyInstance>().addHook('onClose', () => this.flush());
  }

  /** Counts something, for its client, for everybody and for the metrics; costs no query. */
  count({ kind, detail, clientId = '', address }: Happening): void {
    const once = { kind, detail, count: 1, lastAt: new Date(), lastAddress: address ?? null };
    this.add({ clientId, ...once });
    this.add({ clientId: EVERYBODY, ...once });
    countInMetrics(kind, detail);
  }

  /** How often each kind happened in each hour since a time, over everybody. */
  hoursOfAll(since: Date): Promise<HourOfAll[]> {
    return this.repository.hoursOfAll(since);
  }

  /** What happened with a client since a time, the last first. */
  ofClient(clientId: string, kinds: ActivityKind[], since: Date): Promise<Counted[]> {
    return this.repository.ofClient(clientId, kinds, since);
  }

  /** Up to `limit` clients that were near their limit or over it within the last hour or two. */
  nearLimit(limit: number): Promise<ClientNearLimit[]> {
    return this.repository.nearLimit(limit);
  }

  /** Writes what was counted since the last time; one write after another. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  @Interval(FLUSH_EVERY_MS)
  protected flushOnSchedule(): Promise<void> {
    return this.flush();
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
      this.add({ ...counted, clientId: counted.clientId === EVERYBODY ? EVERYBODY : '', detail: OTHER });
    }
  }

  private async write(): Promise<void> {
    if (this.counts.size === 0) return;
    const counts = [...this.counts.values()];
    this.counts = new Map();
    try {
      await this.transactions.retried(() => this.repository.add(counts));
    } catch (error) {
      this.logger.warn(`Counts could not be written: ${(error as Error).message}`);
      // The database is away: they go along with the next.
      for (const counted of counts) this.add(counted);
    }
  }
}

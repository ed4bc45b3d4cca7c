import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';

const BATCH = 1000;
const PURGE_EVERY_MS = 60_000;
// The sealed successor is of use for the grace time alone; erase it soon after.
const ERASE_EVERY_MS = 5_000;

const purgedRows = new Counter({
  name: 'purged_rows_total',
  help: 'Rows that were removed because they had expired, by table',
  labelNames: ['table'] as const,
});

const lastPurge = new Gauge({
  name: 'purge_last_success_timestamp_seconds',
  help: 'When this instance last removed all that had expired',
});

interface PurgeTask {
  table: string;
  key: string;
  /** Which rows may go; `$2` is the retention in days, where the condition names it. */
  condition: string;
}

/**
 * What may go. A consumed code and a retired refresh token stay for as long as their grant, so that a replay is
 * noticed to the grant's last day; a grant stays for the retention time after its end, for whoever asks what became
 * of it, and takes its codes and tokens along.
 */
const TASKS: PurgeTask[] = [
  // For a day after their end, so that whoever asks why a partner gets 401 is told.
  { table: 'access_tokens', key: 'digest', condition: "expires_at < now() - interval '1 day'" },
  { table: 'authorization_codes', key: 'digest', condition: 'consumed_at IS NULL AND expires_at < now()' },
  { table: 'sessions', key: 'digest', condition: 'expires_at < now()' },
  { table: 'portal_links', key: 'digest', condition: 'expires_at < now()' },
  { table: 'portal_sessions', key: 'digest', condition: 'expires_at < now()' },
  { table: 'password_links', key: 'digest', condition: 'expires_at < now()' },
  { table: 'rate_limit_periods', key: 'notification_id', condition: 'ends_at < now()' },
  // Likewise: a secret that has expired is another answer than one that is wrong.
  {
    table: 'client_secrets',
    key: 'client_id, digest',
    condition: 'expires_at < now() - make_interval(days => $2)',
  },
  { table: 'grants', key: 'id', condition: 'revoked_at < now() - make_interval(days => $2)' },
  { table: 'grants', key: 'id', condition: 'expires_at < now() - make_interval(days => $2)' },
  {
    table: 'grants',
    key: 'id',
    condition: `id IN (SELECT grant_id FROM refresh_tokens
                        WHERE retired_at IS NULL AND expires_at < now() - make_interval(days => $2) LIMIT $1)`,
  },
  {
    table: 'event_idempotency_keys',
    key: 'client_id, key_digest',
    condition: "created_at <= now() - interval '24 hours'",
  },
  // With its deliveries and their attempts; not while one of them, accepted or sent again, is on its way.
  {
    table: 'events',
    key: 'id',
    condition: `created_at < now() - make_interval(days => $2)
                AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = events.id AND state = 'pending')`,
  },
  { table: 'webhook_endpoints', key: 'id', condition: 'deleted_at < now() - make_interval(days => $2)' },
  {
    table: 'webhook_endpoint_hours',
    key: 'endpoint_id, hour',
    condition: 'hour < now() - make_interval(days => $2)',
  },
  { table: 'webhook_recoveries', key: 'id', condition: 'created_at < now() - make_interval(days => $2)' },
  {
    table: 'activity_hours',
    key: 'client_id, hour, kind, detail',
    condition: 'hour < now() - make_interval(days => $2)',
  },
  { table: 'audit_events', key: 'id', condition: "occurred_at < now() - interval '365 days'" },
];

/**
 * Removes what has expired, inside the service and in any number of instances at once: small batches, each its own
 * transaction, rows that another instance holds are left to it, and nothing is ever counted.
 */
@Injectable()
export class PurgeService implements OnApplicationShutdown {
  private readonly logger = new Logger(PurgeService.name);
  private running: Promise<unknown> | undefined;
  private stopping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  @Interval(PURGE_EVERY_MS)
  protected purgeOnSchedule(): Promise<void> {
    return this.once(() => this.purge());
  }

  @Interval(ERASE_EVERY_MS)
  protected eraseOnSchedule(): Promise<void> {
    return this.once(() => this.eraseSealedSuccessors());
  }

  /** Deletes all that may go; how many rows that were. */
  async purge(): Promise<number> {
    let removed = 0;
    for (const task of TASKS) removed += await this.inBatches(() => this.deleteBatch(task));
    lastPurge.setToCurrentTime();
    return removed;
  }

  /** Erases the sealed successors whose grace time is over; how many those were. */
  eraseSealedSuccessors(): Promise<number> {
    return this.inBatches(async () => {
      const [, count]: [unknown[], number] = await this.dataSource.query(
        `UPDATE refresh_tokens SET sealed_successor = NULL WHERE digest IN (
           SELECT digest FROM refresh_tokens
            WHERE sealed_successor IS NOT NULL AND grace_ends_at <= now()
            LIMIT $1 FOR UPDATE SKIP LOCKED)`,
        [BATCH],
      );
      return count;
    });
  }

  private async deleteBatch({ table, key, condition }: PurgeTask): Promise<number> {
    const params = condition.includes('$2') ? [BATCH, this.settings.retentionDays] : [BATCH];
    const [, count]: [unknown[], number] = await this.dataSource.query(
      `DELETE FROM ${table} WHERE (${key}) IN (
         SELECT ${key} FROM ${table} WHERE ${condition} LIMIT $1 FOR UPDATE SKIP LOCKED)`,
      params,
    );
    purgedRows.inc({ table }, count);
    return count;
  }

  private async inBatches(batch: () => Promise<number>): Promise<number> {
    let total = 0;
    for (;;) {
      const count = await batch();
      total += count;
      if (count < BATCH || this.stopping) return total;
    }
  }

  /** One run at a time; a failure is logged and the next run tries again. */
  private async once(work: () => Promise<number>): Promise<void> {
    if (this.running || this.stopping) return;
    this.running = work()
      .catch((error: Error) => this.logger.warn(`The purge stopped early: ${error.message}`))
      .finally(() => (this.running = undefined));
    await this.running;
  }
}

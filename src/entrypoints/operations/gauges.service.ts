import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, register } from 'prom-client';
import { DataSource } from 'typeorm';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sharedPoolOf } from '#platform/database/connections/shared-pool.js';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges, TRUSTED_MS } from '#platform/database/changes/access-changes.service.js';
import { pendingMails } from '#records/mail/mail-metrics.js';
import { MailsService } from '#records/mail/mails.service.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { PACKAGE_ROOT } from '#platform/config/package-root.js';

const pendingDeliveries = new Gauge({
  name: 'webhook_deliveries_pending',
  help: 'Deliveries waiting for an attempt, in the whole database, counted up to 10,000',
});
const oldestDelivery = new Gauge({
  name: 'webhook_oldest_due_delivery_seconds',
  help: 'How long the oldest due delivery has waited, except those of endpoints that fail, are slow or have a limit',
});
const heldBackEndpoints = new Gauge({
  name: 'webhook_endpoints_held_back',
  help: 'Endpoints with due deliveries that wait because the endpoint fails or is slow',
});
const databaseConnections = new Gauge({
  name: 'database_connections',
  help: 'Connections of the pool: in use, idle, and requests waiting for one',
  labelNames: ['state'] as const,
});

const poolSize = new Gauge({
  name: 'database_connections_max',
  help: 'Maximum number of connections of the pool',
});

const changesTrusted = new Gauge({
  name: 'access_changes_trusted',
  help: 'Whether cached access data may be used until it changes (1) or each request queries the database (0)',
});

const buildInfo = new Gauge({
  name: 'build_info',
  help: 'Always 1; the labels identify the build',
  labelNames: ['version', 'node'] as const,
});

const instanceRole = new Gauge({
  name: 'instance_role',
  help: 'Always 1; the label is the ROLE of this instance',
  labelNames: ['role'] as const,
});

// The event loop lag is sampled this often. prom-client's default of 10 ms took a third of an idle instance's CPU time.
const LAG_EVERY_MS = 50;

/** Gauges that are read when the metrics are requested, and the default metrics of the process. */
@Injectable()
export class GaugesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly deliveries: DeliveriesService,
    private readonly mails: MailsService,
    private readonly changes: AccessChanges,
    settings: Settings,
  ) {
    poolSize.set(settings.databasePoolSize);
    buildInfo.set({ version: buildVersion(), node: process.versions.node }, 1);
    instanceRole.set({ role: settings.role }, 1);
    // Several instances in one process, as in tests, share one registry.
    if (!register.getSingleMetric('nodejs_eventloop_lag_seconds')) {
      collectDefaultMetrics({ eventLoopMonitoringPrecision: LAG_EVERY_MS });
    }
  }

  /** Never throws: while the database is unavailable, its gauges keep their last value. */
  async refresh(): Promise<void> {
    const pool = sharedPoolOf(this.dataSource);
    databaseConnections.set({ state: 'used' }, pool.totalCount - pool.idleCount);
    databaseConnections.set({ state: 'idle' }, pool.idleCount);
    databaseConnections.set({ state: 'waiting' }, pool.waiting);
    // An idle instance reads no changes, so read them to find out whether they can be trusted.
    await this.changes.catchUp();
    changesTrusted.set(this.changes.wasTrusted(TRUSTED_MS) ? 1 : 0);
    const mails = await this.mails.countPending().catch(() => undefined);
    if (mails !== undefined) pendingMails.set(mails);
    const waiting = await this.deliveries.waiting().catch(() => undefined);
    if (!waiting) return;
    pendingDeliveries.set(waiting.pending);
    oldestDelivery.set(waiting.oldestSeconds);
    heldBackEndpoints.set(waiting.heldBack);
  }
}

/** The version in package.json. */
function buildVersion(): string {
  const text = readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

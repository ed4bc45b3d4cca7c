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

const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> =>
  new Gauge({ name, help, labelNames });

const pendingDeliveries = gauge(
  'webhook_deliveries_pending',
  'Deliveries waiting for an attempt, in the whole database, counted up to 10,000',
);
const oldestDelivery = gauge(
  'webhook_oldest_due_delivery_seconds',
  'How long the oldest due delivery has waited, except those of endpoints that fail, are slow or have a limit',
);
const heldBackEndpoints = gauge(
  'webhook_endpoints_held_back',
  'Endpoints with due deliveries that wait because the endpoint fails or is slow',
);
const databaseConnections = gauge(
  'database_connections',
  'Connections of the pool: in use, idle, and requests waiting for one',
  'state',
);
const poolSize = gauge('database_connections_max', 'Maximum number of connections of the pool');
const changesTrusted = gauge(
  'access_changes_trusted',
  'Whether cached access data may be used until it changes (1) or each request queries the database (0)',
);
const buildInfo = gauge('build_info', 'Always 1; the labels identify the build', 'version', 'node');
const instanceRole = gauge('instance_role', 'Always 1; the label is the ROLE of this instance', 'role');

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

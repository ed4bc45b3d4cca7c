import { Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { collectDefaultMetrics, Gauge, register } from 'prom-client';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';

const pendingDeliveries = new Gauge({
  name: 'webhook_deliveries_pending',
  help: 'Deliveries that wait for an attempt, in the whole database, counted to 10,000',
});
const oldestDelivery = new Gauge({
  name: 'webhook_oldest_due_delivery_seconds',
  help: 'For how long the oldest delivery that is due has waited',
});
const databaseConnections = new Gauge({
  name: 'database_connections',
  help: 'Connections of the pool: in use, idle, and requests that wait for one',
  labelNames: ['state'] as const,
});

const poolSize = new Gauge({
  name: 'database_connections_max',
  help: 'How many connections the pool may have',
});

/** What is looked up when the metrics are asked for, and what the process says of itself. */
@Injectable()
export class GaugesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly deliveries: DeliveriesService,
    settings: Settings,
  ) {
    poolSize.set(settings.databasePoolSize);
    // Several instances in one process, as in tests, share one registry.
    if (!register.getSingleMetric('nodejs_eventloop_lag_seconds')) collectDefaultMetrics();
  }

  /** Never throws: while the database is away, what is in it keeps the last value. */
  async refresh(): Promise<void> {
    const { master: pool } = this.dataSource.driver as unknown as { master: Pool };
    databaseConnections.set({ state: 'used' }, pool.totalCount - pool.idleCount);
    databaseConnections.set({ state: 'idle' }, pool.idleCount);
    databaseConnections.set({ state: 'waiting' }, pool.waitingCount);
    const waiting = await this.deliveries.waiting().catch(() => undefined);
    if (!waiting) return;
    pendingDeliveries.set(waiting.pending);
    oldestDelivery.set(waiting.oldestSeconds);
  }
}

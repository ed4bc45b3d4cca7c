import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { apart } from '../../telemetry/log-scope.js';

const CHANNEL = 'webhook_deliveries';
// Of many announcements within this time the other instances hear one.
const ANNOUNCE_EVERY_MS = 50;
const RECONNECT_AFTER_MS = 1000;

/**
 * Wakes the delivery workers of all instances when there is something to deliver: this instance's at once, the others'
 * by LISTEN/NOTIFY. What gets lost on the way is found by polling.
 */
@Injectable()
export class WakeUps implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(WakeUps.name);
  private readonly listeners: (() => void)[] = [];
  private announcement: NodeJS.Timeout | undefined;
  private connection: pg.Client | undefined;
  private reconnection: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    void this.listen();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.announcement);
    clearTimeout(this.reconnection);
    await this.connection?.end().catch(() => undefined);
  }

  /** Called once by each worker of this instance. */
  onWakeUp(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Says that there is something to deliver. */
  announce(): void {
    this.wakeOwn();
    if (this.stopped) return;
    this.announcement ??= apart(() => this.announceLater());
  }

  private announceLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.announcement = undefined;
      this.dataSource
        .query('SELECT pg_notify($1, $2)', [CHANNEL, ''])
        .catch((error: Error) => this.logger.debug(`Other instances were not woken: ${error.message}`));
    }, ANNOUNCE_EVERY_MS).unref();
  }

  private wakeOwn(): void {
    for (const listener of this.listeners) listener();
  }

  private async listen(): Promise<void> {
    const connection = new pg.Client({
      connectionString: this.settings.databaseUrl,
      application_name: 'charging-data-service wake-ups',
      keepAlive: true,
      connectionTimeoutMillis: 3000,
    });
    this.connection = connection;
    // An error ends the connection; its end is where it is taken up again.
    connection.on('error', () => undefined);
    connection.on('notification', () => this.wakeOwn());
    try {
      await connection.connect();
      connection.once('end', () => this.reconnect());
      await connection.query(`LISTEN ${CHANNEL}`);
      this.wakeOwn();
    } catch (error) {
      if (!this.stopped) this.logger.warn(`Not listening for deliveries: ${(error as Error).message}`);
      await connection.end().catch(() => undefined);
      this.reconnect();
    }
  }

  private reconnect(): void {
    if (this.stopped || this.reconnection) return;
    this.reconnection = setTimeout(() => {
      this.reconnection = undefined;
      void this.listen();
    }, RECONNECT_AFTER_MS).unref();
  }
}

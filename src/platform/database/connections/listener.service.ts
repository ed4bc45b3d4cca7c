import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { Settings } from '#platform/config/settings.js';
import { detached } from '#platform/telemetry/log-scope.js';
import { closeAtOnce, socketOf } from './connection-problem.js';
import { newConnection } from './connections.js';
import type { Session } from './session.js';
import { proveSessionMode, SessionLostError } from './session-mode.js';

const RECONNECT_AFTER_MS = 500;
// A server that does not answer a round trip for this long counts as gone.
const SILENCE_MS = 3_000;

/** Callbacks about the state of the connection. */
export interface ConnectionFollower {
  /** The connection listens from now on; earlier notifications may have been missed. */
  onConnected(): void;
  /** No notifications arrive until the next `onConnected`. */
  onLost?(): void;
}

/** Callbacks for one channel. */
export interface ChannelListener extends ConnectionFollower {
  onAnnouncement(payload: string): void;
}

/** Its statements are few, and go by the index of the table of changes whatever its size is: planning one took longer than running it. */
export const LISTENING: Session = { enable_seqscan: 'off', plan_cache_mode: 'force_generic_plan' };

/** This instance's only connection for notifications from the database (LISTEN/NOTIFY); it reconnects when it breaks. */
@Injectable()
export class Listener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Listener.name);
  private readonly listeners = new Map<string, ChannelListener>();
  private readonly followers: ConnectionFollower[] = [];
  private connection: pg.Client | undefined;
  /** The latest connection, verified or not; only when it ends is another one made. */
  private newest: pg.Client | undefined;
  private reconnection: NodeJS.Timeout | undefined;
  private stopped = false;
  private notificationsLost = false;
  private lastProblem: string | undefined;
  private markTried!: () => void;
  private readonly firstTry = new Promise<void>((resolve) => (this.markTried = resolve));

  constructor(private readonly settings: Settings) {}

  /** Called during application setup, once per channel. */
  listen(channel: string, listener: ChannelListener): void {
    this.listeners.set(channel, listener);
    this.follow(listener);
  }

  /** The same for users of the connection itself. */
  follow(follower: ConnectionFollower): void {
    this.followers.push(follower);
  }

  onApplicationBootstrap(): void {
    void this.connect();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.reconnection);
    const { connection } = this;
    this.lose();
    await connection?.end().catch(() => undefined);
  }

  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  /** Whether the last connection received no notifications: there is a pooler in transaction mode in between. */
  get losesNotifications(): boolean {
    return this.notificationsLost;
  }

  /** Resolves once the first attempt to listen has ended, successfully or not. */
  tried(): Promise<void> {
    return this.firstTry;
  }

  /** Runs a query on the listening connection; returns its rows. Throws if it is not connected, or does not respond in time. */
  async query<Row extends object>(config: pg.QueryConfig): Promise<Row[]> {
    const connection = this.connection;
    if (!connection) throw new Error('not connected');
    try {
      const { rows } = await connection.query<Row>(config);
      if (this.connection !== connection) throw new Error('no longer connected');
      return rows;
    } catch (error) {
      // Without waiting for the other side, which may not respond.
      socketOf(connection).destroy();
      throw error;
    }
  }

  private async connect(): Promise<void> {
    // An error ends the connection, and reconnecting starts at its end.
    const connection = this.newConnection();
    this.newest = connection;
    connection.on('notification', ({ channel, payload = '' }) =>
      this.listeners.get(channel)?.onAnnouncement(payload),
    );
    try {
      await connection.connect();
      connection.once('end', () => this.reconnect(connection));
      for (const channel of this.listeners.keys()) await connection.query(`LISTEN ${channel}`);
      await this.proveNotificationsArrive(connection);
      if (this.stopped) throw new Error('stopped');
      this.connection = connection;
      this.notificationsLost = false;
      this.lastProblem = undefined;
      for (const follower of this.followers) follower.onConnected();
    } catch (error) {
      // Otherwise it is an old connection, and a newer one reports the state.
      if (connection === this.newest) {
        this.notificationsLost = error instanceof SessionLostError;
        this.tellOnce((error as Error).message);
      }
      closeAtOnce(connection);
      this.reconnect(connection);
    } finally {
      this.markTried();
    }
  }

  /** It reconnects every half second, so a repeated problem is logged once. */
  private tellOnce(problem: string): void {
    if (this.stopped || problem === this.lastProblem) return;
    this.lastProblem = problem;
    this.logger.warn(
      `Database notifications are unavailable, so every token is checked in the database: ${problem}`,
    );
  }

  private proveNotificationsArrive(connection: pg.Client): Promise<void> {
    return proveSessionMode(connection, this.newConnection(), SILENCE_MS);
  }

  private newConnection(): pg.Client {
    const options = {
      application_name: 'charging-data-service listener',
      keepAlive: true,
      connectionTimeoutMillis: 3000,
      query_timeout: SILENCE_MS,
    };
    return newConnection(this.settings.databaseUrl!, options, LISTENING);
  }

  private lose(): void {
    if (!this.connection) return;
    this.connection = undefined;
    for (const follower of this.followers) follower.onLost?.();
  }

  private reconnect(ended: pg.Client): void {
    if (this.connection === ended) this.lose();
    if (this.stopped || this.reconnection || ended !== this.newest) return;
    this.reconnection = detached(() =>
      setTimeout(() => {
        this.reconnection = undefined;
        void this.connect();
      }, RECONNECT_AFTER_MS).unref(),
    );
  }
}

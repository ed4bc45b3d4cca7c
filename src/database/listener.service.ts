import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Settings } from '../config/settings.js';
import { socketOf } from './connection-socket.js';

const RECONNECT_AFTER_MS = 500;
// Who does not answer a round trip for so long is gone.
const SILENCE_MS = 3_000;
// Only for proving that announcements arrive.
const OWN_CHANNEL = 'listener_proof';

/** What a channel's listener is told. */
export interface ChannelListener {
  /** The connection listens from now on; what was announced before is unknown. */
  onConnected(): void;
  onAnnouncement(payload: string): void;
  /** Nothing is heard any more until the next `onConnected`. */
  onLost?(): void;
}

/** This instance's one connection that listens to what is announced in the database (LISTEN/NOTIFY); when it breaks it is taken up again. */
@Injectable()
export class Listener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Listener.name);
  private readonly listeners = new Map<string, ChannelListener>();
  private connection: pg.Client | undefined;
  private reconnection: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(private readonly settings: Settings) {}

  /** Called while the application is put together, once for each channel. */
  listen(channel: string, listener: ChannelListener): void {
    this.listeners.set(channel, listener);
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

  /**
   * A round trip on the listening connection: when it is back, whatever was announced and committed before it has been
   * heard. Throws where the connection is not there, or listens no more.
   */
  async roundTrip(): Promise<void> {
    const connection = this.connection;
    if (!connection) throw new Error('not connected');
    try {
      const { rows } = await connection.query<{ count: number }>({
        name: 'listening',
        text: 'SELECT count(*)::int AS count FROM pg_listening_channels()',
      });
      if (rows[0]?.count !== this.listeners.size) throw new Error('not listening');
    } catch (error) {
      // Without waiting for the other side, which may be silent.
      socketOf(connection).destroy();
      throw error;
    }
    if (this.connection !== connection) throw new Error('not connected any more');
  }

  private async connect(): Promise<void> {
    // An error ends the connection; its end is where it is taken up again.
    const connection = this.newConnection();
    connection.on('notification', ({ channel, payload = '' }) =>
      this.listeners.get(channel)?.onAnnouncement(payload),
    );
    try {
      await connection.connect();
      connection.once('end', () => this.reconnect(connection));
      for (const channel of this.listeners.keys()) await connection.query(`LISTEN ${channel}`);
      await this.proveHearing(connection);
      if (this.stopped) throw new Error('stopped');
      this.connection = connection;
      for (const listener of this.listeners.values()) listener.onConnected();
    } catch (error) {
      if (!this.stopped) this.logger.warn(`Not listening to the database: ${(error as Error).message}`);
      await connection.end().catch(() => undefined);
      this.reconnect(connection);
    }
  }

  /**
   * What another connection announces must arrive while this one is silent: behind a pooler that lends connections for one
   * transaction at a time LISTEN succeeds, and announcements are lost. Throws where it does not arrive.
   */
  private async proveHearing(connection: pg.Client): Promise<void> {
    const sign = randomBytes(8).toString('hex');
    const heard = new Promise<void>((resolve, reject) => {
      const words =
        'announcements do not arrive; DATABASE_URL must lead to PostgreSQL itself or to a pooler in session mode';
      setTimeout(() => reject(new Error(words)), SILENCE_MS).unref();
      connection.on('notification', ({ payload }) => payload === sign && resolve());
    });
    heard.catch(() => undefined);
    await connection.query(`LISTEN ${OWN_CHANNEL}`);
    const announcer = this.newConnection();
    try {
      await announcer.connect();
      await announcer.query('SELECT pg_notify($1, $2)', [OWN_CHANNEL, sign]);
      await heard;
    } finally {
      await announcer.end().catch(() => undefined);
    }
    await connection.query(`UNLISTEN ${OWN_CHANNEL}`);
  }

  private newConnection(): pg.Client {
    const connection = new pg.Client({
      connectionString: this.settings.databaseUrl,
      application_name: 'charging-data-service listener',
      keepAlive: true,
      connectionTimeoutMillis: 3000,
      query_timeout: SILENCE_MS,
    });
    connection.on('error', () => undefined);
    return connection;
  }

  private lose(): void {
    if (!this.connection) return;
    this.connection = undefined;
    for (const listener of this.listeners.values()) listener.onLost?.();
  }

  private reconnect(ended: pg.Client): void {
    if (this.connection === ended) this.lose();
    if (this.stopped || this.reconnection) return;
    this.reconnection = setTimeout(() => {
      this.reconnection = undefined;
      void this.connect();
    }, RECONNECT_AFTER_MS).unref();
  }
}

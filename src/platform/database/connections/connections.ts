import pg from 'pg';
import { parseDatabaseUrl, type DatabaseHost } from '#platform/config/database-url.js';
import { closeAtOnce, socketOf } from './connection-problem.js';
import { pinSession, type Session } from './session.js';

const ANSWER_MS = 2_000;

/** Which of several servers accepts writes: determined when unknown, and cached until a connection to it fails. */
class Primary {
  private known: DatabaseHost | undefined;
  private finding: Promise<DatabaseHost> | undefined;

  constructor(
    private readonly hosts: readonly DatabaseHost[],
    private readonly config: pg.ClientConfig,
  ) {}

  /** Rejects with the first server's error if none accepts writes within two seconds. */
  async find(): Promise<DatabaseHost> {
    if (this.known) return this.known;
    this.finding ??= this.ask().finally(() => (this.finding = undefined));
    return this.finding;
  }

  forget(host: DatabaseHost): void {
    if (this.known === host) this.known = undefined;
  }

  /** Throws if the connection does not accept writes. */
  async check(connection: pg.Client): Promise<void> {
    const { rows } = await connection.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
    // The SQLSTATE of a server that refuses writes.
    if (rows[0]?.transaction_read_only !== 'off') {
      throw Object.assign(new Error('the server accepts no writes'), { code: '25006' });
    }
  }

  /** Tries all at once, so that a silent server does not delay the others; the first one in order wins. */
  private async ask(): Promise<DatabaseHost> {
    const answers = this.hosts.map((host) => this.tryOne(host));
    for (const answer of answers) answer.catch(() => undefined);
    const errors: unknown[] = [];
    for (const [n, answer] of answers.entries()) {
      try {
        await answer;
        return (this.known = this.hosts[n]!);
      } catch (error) {
        errors.push(error);
      }
    }
    // A read-only server is more informative than an unreachable one.
    throw errors.find((error) => (error as { code?: unknown }).code === '25006') ?? errors[0];
  }

  private async tryOne(host: DatabaseHost): Promise<void> {
    const connection = new pg.Client({
      ...this.config,
      ...host,
      application_name: 'charging-data-service looking for the primary',
    });
    connection.on('error', () => undefined);
    const late = () => socketOf(connection).destroy(new Error('Connection terminated: no answer in time'));
    // One more turn of the event loop, in case the answer has arrived and this process was too busy to read it.
    const timer = setTimeout(() => setImmediate(late), ANSWER_MS);
    try {
      await connection.connect();
      await this.check(connection);
    } finally {
      clearTimeout(timer);
      closeAtOnce(connection);
    }
  }
}

/**
 * The driver options for a DATABASE_URL; of several hosts, it connects to the one that accepts writes. Used by the pool and by
 * single connections, so that all interpret the URL alike, and have the settings that the code relies on besides their own.
 */
export function connectionOptions(
  url: string,
  session: Session = {},
): pg.ClientConfig & { Client: typeof pg.Client } {
  const { hosts, config } = parseDatabaseUrl(url);
  if (hosts.length === 1) return { ...config, ...hosts[0], Client: clientOf(session) };
  return { ...config, Client: clientOf(session, new Primary(hosts, config)) };
}

/** A connection outside of the pool, not connected yet. */
export function newConnection(url: string, options: pg.ClientConfig, session?: Session): pg.Client {
  const { Client, ...config } = connectionOptions(url, session);
  return new Client({ ...config, ...options });
}

/** The driver's client, which finds the primary when it connects, and is connected once it has its settings. */
function clientOf(session: Session, primary?: Primary): typeof pg.Client {
  return class extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
      const connected = this.establish();
      if (!callback) return connected;
      // Like the driver's own: called without arguments on success.
      connected.then(() => callback(undefined as never), callback);
    }

    private async establish(): Promise<pg.Client> {
      // A failure between two statements is reported by the next one; an error event without a listener would end the process.
      this.on('error', () => undefined);
      const forget = primary ? await this.aimAt(primary) : undefined;
      try {
        await super.connect();
        await primary?.check(this);
        await pinSession(this, session);
        return this;
      } catch (error) {
        forget?.();
        closeAtOnce(this);
        throw error;
      }
    }

    private async aimAt(primary: Primary): Promise<() => void> {
      const target = await primary.find();
      const forget = () => primary.forget(target);
      // Also on an unexpected end of the connection: after a failover, the others find the new primary.
      this.once('error', forget);
      Object.assign(this, { host: target.host, port: target.port ?? this.port });
      return forget;
    }
  };
}

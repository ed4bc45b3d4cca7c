import pg from 'pg';
import type { DatabaseHost } from '#platform/config/database-url.js';
import { closeAtOnce, socketOf } from './connection-socket.js';

const ANSWER_MS = 2_000;

/** Which of several servers accepts writes: determined when unknown, and cached until a connection to it fails. */
export class Primary {
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

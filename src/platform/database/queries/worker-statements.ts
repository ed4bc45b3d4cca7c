import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type pg from 'pg';
import { Settings } from '#platform/config/settings.js';
import { workerPool } from '../connections/data-source.js';
import { againIfLost } from './database-errors.js';

/** How long plans are kept: one that was made beside an empty table reads all of a long one. */
const PLANS_LAST_MS = 1_000;

/**
 * The statements of what works as long as the service, one at a time: publishing, claims of deliveries, their results. On connections of their
 * own: they neither wait for requests nor hold them up. Named, so that under load PostgreSQL plans each once a second for a connection, and
 * not for every call, which takes longer than storing an event.
 */
@Injectable()
export class WorkerStatements implements OnApplicationShutdown {
  private readonly pool: pg.Pool;
  /** When the plans of each connection were last dropped, by the monotonic clock. */
  private readonly planned = new WeakMap<pg.PoolClient, number>();

  constructor(@Inject(Settings) { databaseUrl }: Pick<Settings, 'databaseUrl'>) {
    this.pool = workerPool(databaseUrl!);
  }

  /** After the last work: workers end before the server closes. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }

  /**
   * Runs one of them in its own transaction and returns its rows. A name must always stand for the same text. Throws the driver's
   * errors.
   */
  run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return againIfLost(async () => {
      const connection = await this.pool.connect();
      let isBroken = true;
      try {
        await this.dropOldPlans(connection);
        const { rows } = await connection.query<Row>({ name, text, values });
        isBroken = false;
        return rows;
      } finally {
        // As the driver's pool does after an error.
        connection.release(isBroken);
      }
    });
  }

  private async dropOldPlans(connection: pg.PoolClient): Promise<void> {
    const now = performance.now();
    if (now < (this.planned.get(connection) ?? -Infinity) + PLANS_LAST_MS) return;
    await connection.query('DISCARD PLANS');
    this.planned.set(connection, now);
  }
}

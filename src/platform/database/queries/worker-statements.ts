import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type pg from 'pg';
import { Settings } from '#platform/config/settings.js';
import { workerPool } from '../connections/data-source.js';
import { againIfLost } from './lost-races.js';

/**
 * The statements of a worker that runs as long as the service, on connections of its own: it neither waits for requests nor
 * holds them up. Named, so that PostgreSQL parses and plans each once per connection, for any parameters and for large tables.
 */
@Injectable()
export class WorkerStatements implements OnApplicationShutdown {
  private readonly pool: pg.Pool;

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
  async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await againIfLost(() => this.pool.query<Row>({ name, text, values }))).rows;
  }
}

import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source.js';

// Any number that no other use of this database takes: the first eight bytes of "charging" as a whole number.
const LOCK = 7_163_106_617_430_109_543n;

/**
 * Brings the schema up to date, then runs `afterwards` (the first operator, the demonstration), all under one advisory
 * lock: of any number of instances that start at once, one works and the others wait and find it done.
 */
export async function migrate(
  url: string,
  afterwards: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  const lock = new Client({ connectionString: url, application_name: 'charging-data-service migrations' });
  // What breaks between two statements is told by the next.
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [LOCK.toString()]);
    const dataSource = new DataSource({
      ...dataSourceOptions(url, 2),
      // A change to a large table may take its time.
      extra: { statement_timeout: 0, lock_timeout: 0 },
    } as ReturnType<typeof dataSourceOptions>);
    await dataSource.initialize();
    try {
      await dataSource.runMigrations({ transaction: 'each' });
      await afterwards(dataSource);
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await lock.end();
  }
}

import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { atEndOfFile } from './between-files.js';

type Query = <T = Record<string, unknown>>(sql: string, params?: unknown[]) => Promise<T[]>;

/** Ways to read a database. */
export interface Reads {
  query: Query;
  /** The first value of every row. */
  column<T>(sql: string, params?: unknown[]): Promise<T[]>;
  /** The first value of the first row. */
  value<T>(sql: string, params?: unknown[]): Promise<T>;
}

/** All {@link Reads} by one way to query. */
export function readsBy(query: Query): Reads {
  const column = async <T>(sql: string, params?: unknown[]) =>
    (await query<Record<string, T>>(sql, params)).map((row) => Object.values(row)[0]!);
  return {
    query,
    column,
    value: async <T>(sql: string, params?: unknown[]) => (await column<T>(sql, params))[0]!,
  };
}

/** A test's own database, copied from the migrated template. */
export interface TestDatabase {
  /** The URL of a superuser. */
  url: string;
  /**
   * The URL of the service's role, which can change neither the schema nor the audit log; undefined where there is no such
   * role.
   */
  serviceUrl?: string;
  query: Query;
  drop(): Promise<void>;
}

const templateUrl = (): string => {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('The tests run under jest with its global set-up: npm test');
  return url;
};

export async function createTestDatabase(template = 'template_charging'): Promise<TestDatabase & Reads> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Copying the files takes a third of the time that the contents take through the log.
  const sql = `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`;
  await asAdmin((admin) => admin.query(sql));
  const url = withDatabase(name);
  const client = new Client({ connectionString: url });
  // A test may cut every connection; the next query reports it.
  client.on('error', () => undefined);
  await client.connect();
  // One query after another: two queries at once on one connection are an error in the next version of pg.
  let last: Promise<unknown> = Promise.resolve();
  const serviceUrl = new URL(url);
  serviceUrl.username = 'charging_service';
  if (process.env.TEST_POOLER) serviceUrl.host = process.env.TEST_POOLER;
  return {
    url,
    serviceUrl: serviceUrl.href,
    ...readsBy(<T>(sql: string, params?: unknown[]) => {
      const result = last.then(async () => (await client.query(sql, params)).rows as T[]);
      last = result.catch(() => undefined);
      return result;
    }),
    drop: async () => {
      await client.end();
      await asAdmin((admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

/** The name of a database, as SQL has it. */
export const nameOf = ({ url }: Pick<TestDatabase, 'url'>): string => new URL(url).pathname.slice(1);

/** Another connection of a superuser to the database; it ends with the file, if not before. */
export async function connectionTo({ database }: { database: Pick<TestDatabase, 'url'> }): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  atEndOfFile(() => client.end());
  return client;
}

/**
 * Another database on the same server with a copy of everything in this one, as after restoring a dump. Cuts every connection to
 * this one.
 */
export async function copyTestDatabase(database: TestDatabase): Promise<TestDatabase> {
  const name = nameOf(database);
  const allow = (connections: boolean) =>
    asAdmin((admin) => admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${connections}`));
  await allow(false);
  try {
    await asAdmin((admin) =>
      admin.query('SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1', [name]),
    );
    return await createTestDatabase(name);
  } finally {
    await allow(true);
  }
}

const withDatabase = (name: string): string => {
  const url = new URL(templateUrl());
  url.pathname = `/${name}`;
  return url.href;
};

/** Works as a superuser, one after another. */
export async function asAdmin(work: (admin: Client) => Promise<unknown>): Promise<void> {
  const admin = new Client({ connectionString: withDatabase('postgres') });
  await admin.connect();
  try {
    // A template can be copied only once at a time: the others wait here instead of failing.
    await admin.query('SELECT pg_advisory_lock(1)');
    await work(admin);
  } finally {
    await admin.end();
  }
}

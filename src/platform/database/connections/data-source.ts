import pg, { type Client, type PoolConfig } from 'pg';
import { DefaultNamingStrategy, type DataSourceOptions } from 'typeorm';
import { MIGRATIONS } from '../../../../migrations/index.js';
import { snakeCase } from '../queries/input-rows.js';
import { socketOf } from './connection-problem.js';
import { whoAsks } from '#platform/telemetry/log-scope.js';
import { connectionOptions } from './connections.js';
import type { Session } from './session.js';
import { sharedPool } from './shared-pool.js';

const CONNECT_TIMEOUT_MS = 3_000;
// A server that sends nothing for longer than it may take for a statement (`SERVICE`) is gone, and the connection is dropped.
// (The pool closes idle connections before that.)
const SILENCE_MS = 12_000;

// Every lookup has its index. A cached plan must not depend on a table having been empty: it would scan the whole table long
// after it has grown (docs/decisions/0009-query-plans.md).
const PLAN_FOR_LARGE_TABLES: Session = {
  ...{ enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' },
  ...{ enable_nestloop: 'on', enable_indexscan: 'on', enable_bitmapscan: 'on', plan_cache_mode: 'auto' },
};

/** The session settings of the service's own connections. */
const SERVICE: Session = {
  ...PLAN_FOR_LARGE_TABLES,
  // Statements and lock waits that take longer are cancelled, and the caller gets a 503.
  statement_timeout: '10s',
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '10s',
};

/** Those of a worker's: a plan for any parameters, for as long as it is kept (`WorkerStatements`). */
const WORKER: Session = { ...SERVICE, plan_cache_mode: 'force_generic_plan' };
/** For publishing, claims and results, one after the other each. */
const WORKER_CONNECTIONS = 3;

/** Reports a silent connection to the code that uses it. */
function watch(connection: Client): void {
  const socket = socketOf(connection);
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('Connection terminated: no answer in time')));
}

/** Where it is not known who asks, the statements of tokens and bearer requests are first, which are few and short. */
const isFirst = (isStatement: boolean): boolean => {
  const asking = whoAsks();
  return asking === undefined ? isStatement : asking === 'program';
};

/** Columns have the names of their members in snake case, unless they say otherwise. */
class SnakeCaseColumns extends DefaultNamingStrategy {
  override columnName(member: string, given: string | undefined, prefixes: string[]): string {
    return given ?? super.columnName(snakeCase(member), '', prefixes);
  }
}

/** The session settings of a data source, and further options of its driver. */
export interface DataSourceSession {
  session: Session;
  driver: PoolConfig;
}

const OF_SERVICE: DataSourceSession = {
  session: SERVICE,
  driver: { keepAlive: true, onConnect: (connection) => watch(connection as Client) },
};

/**
 * The only definition of the database for the service, its migrations and the tests, without entities: each module registers its
 * own.
 */
export function dataSourceOptions(
  url: string,
  poolSize: number,
  { session, driver }: DataSourceSession = OF_SERVICE,
): DataSourceOptions {
  const connection = connectionOptions(url, session);
  return {
    type: 'postgres',
    driver: { ...pg, Pool: sharedPool(isFirst) },
    ...(connection.database === undefined ? {} : { database: connection.database }),
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'charging-data-service',
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    synchronize: false,
    logging: false,
    namingStrategy: new SnakeCaseColumns(),
    extra: { ...connection, ...driver },
  };
}

/** The connections of a worker (`WorkerStatements`), opened when it needs them. */
export function workerPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOptions(url, WORKER),
    ...OF_SERVICE.driver,
    application_name: 'charging-data-service',
    max: WORKER_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A connection that is lost while idle is replaced; an error event without a listener would end the process.
  pool.on('error', () => undefined);
  return pool;
}

import pg, { type Client } from 'pg';
import { DefaultNamingStrategy, type DataSourceOptions } from 'typeorm';
import { MIGRATIONS } from '../../../migrations/index.js';
import { snakeCase } from '../queries/input-rows.js';
import { socketOf } from './connection-socket.js';
import { whoAsks } from '../../telemetry/log-scope.js';
import { connectionOptions } from './connections.js';
import { sharedPool } from './shared-pool.js';

// Statements and lock waits that take longer are cancelled, and the caller gets a 503.
const STATEMENT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
// PostgreSQL enforces the limits above itself. A server that sends nothing for longer is gone, and the connection is dropped.
// (The pool closes idle connections before that.)
const SILENCE_MS = 12_000;

// Every lookup has its index. A cached plan must not depend on a table having been empty: it would scan the whole table long
// after it has grown (docs/decisions/0009-query-plans.md).
const PLAN_FOR_LARGE_TABLES =
  'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off';

// A day of an interval is one of the session's time zone: where clocks change, it has 23 or 25 hours, while instances count 24.
const DAYS_OF_UTC = "SET TimeZone = 'UTC'";

/** Reports a broken or silent connection to the code that uses it. */
function watch(connection: Client): void {
  // While the pool hands a connection out, nothing else listens to it, and an error event without a listener would end the
  // process.
  connection.on('error', () => undefined);
  const socket = socketOf(connection);
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('Connection terminated: no answer in time')));
}

async function prepare(connection: Client): Promise<void> {
  watch(connection);
  await connection.query(`${PLAN_FOR_LARGE_TABLES}; ${DAYS_OF_UTC}`);
}

/** The session settings of the service's own connections. */
const SERVICE = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
  keepAlive: true,
  onConnect: prepare,
};

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

/**
 * The only definition of the database for the service, its migrations and the tests, without entities: each module registers its
 * own. `session` overrides the session settings of the service.
 */
export function dataSourceOptions(
  url: string,
  poolSize: number,
  session: Record<string, unknown> = SERVICE,
): DataSourceOptions {
  const connection = connectionOptions(url);
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
    extra: { ...connection, ...session },
  };
}

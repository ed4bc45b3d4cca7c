interface DriverError {
  code?: unknown;
  message?: unknown;
  name?: unknown;
  driverError?: unknown;
  constraint?: unknown;
}

// Class 08: connection exceptions; 57P01-05: the server is shutting down, starting, or ended a connection; 53300: too many
// connections; 55000: the database accepts no connections; 25006: a failover left a read-only server; 55P03 and 57014: a lock or a
// statement exceeded the limits of the pool; 25P03 and 25P04: a transaction did.
const AWAY_SQLSTATES = /^(08...|57P0[1-5]|53...|55000|25006|55P03|57014|25P0[34])$/;
const AWAY_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
const AWAY_MESSAGES =
  /Connection terminated|^timeout expired$|timeout exceeded when trying to connect|Cannot use a pool after calling end|Client has encountered a connection error|Client was closed|Query read timeout/;
// A connection that ended between two statements of a transaction was returned to the pool with its error.
const AWAY_NAMES = new Set(['QueryRunnerAlreadyReleasedError', 'QueryRunnerProviderAlreadyReleasedError']);

const driverErrorOf = (error: unknown): DriverError | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const inner = (error as DriverError).driverError;
  return typeof inner === 'object' && inner !== null ? inner : error;
};

/** Whether the database was unreachable or did not respond in time: the caller may retry. */
export function isDatabaseAway(error: unknown): boolean {
  const driver = driverErrorOf(error);
  if (driver === undefined) return false;
  const { code, message, name } = driver;
  if (typeof code === 'string' && (AWAY_SQLSTATES.test(code) || AWAY_SYSTEM_CODES.has(code))) return true;
  if (typeof name === 'string' && AWAY_NAMES.has(name)) return true;
  return typeof message === 'string' && AWAY_MESSAGES.test(message);
}

/** Whether the error is a violation of the named unique constraint or index, or of any. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const driver = driverErrorOf(error);
  return driver?.code === '23505' && (constraint === undefined || driver.constraint === constraint);
}

/** Whether the error is a violation of the named foreign key, or of any. */
export function isForeignKeyViolation(error: unknown, constraint?: string): boolean {
  const driver = driverErrorOf(error);
  return driver?.code === '23503' && (constraint === undefined || driver.constraint === constraint);
}

/** Whether the transaction lost to another one and may be run again: deadlock or serialization failure. */
export function isLostRace(error: unknown): boolean {
  const code = driverErrorOf(error)?.code;
  return code === '40P01' || code === '40001';
}

/** Whether a lock was not acquired within the connection's timeout. */
export const isLockTimeout = (error: unknown): boolean => driverErrorOf(error)?.code === '55P03';

/** Whether a statement was cancelled because it exceeded the connection's timeout. */
export const isStatementTimeout = (error: unknown): boolean => driverErrorOf(error)?.code === '57014';

const ATTEMPTS = 4;

/**
 * Runs a transaction, or a single statement, which is its own transaction, again if it lost a deadlock or could not be serialized:
 * the database has undone all of it. `RetryingDataSource` and `Statements` do so for all there are.
 */
export async function againIfLost<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isLostRace(error)) throw error;
    }
  }
}

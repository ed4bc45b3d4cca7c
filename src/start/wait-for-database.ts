import { setTimeout as pause } from 'node:timers/promises';
import { connectionProblem, isPassing } from '#platform/database/connections/connection-problem.js';
import { StartError } from './start-error.js';
import type pg from 'pg';
import { closeAtOnce } from '#platform/database/connections/connection-problem.js';
import { newConnection } from '#platform/database/connections/connections.js';

/**
 * Asks the database something over a connection of its own, each step of which takes at most this many milliseconds: a server that froze
 * after accepting the connection sends nothing. Throws the driver's errors.
 */
export async function askAtStart<T>(
  url: string,
  milliseconds: number,
  ask: (connection: pg.Client) => Promise<T>,
): Promise<T> {
  const connection = newConnection(url, {
    application_name: 'charging-data-service start',
    connectionTimeoutMillis: milliseconds,
    query_timeout: milliseconds,
  });
  try {
    await connection.connect();
    return await ask(connection);
  } finally {
    // Without waiting for the other side, which may not respond.
    closeAtOnce(connection);
  }
}

const TRY_EVERY_MS = 1_000;
const ANSWER_MS = 3_000;

/**
 * Resolves once the database accepts a connection. Waits this many seconds for one that is not there yet, and tells `say` once.
 * Throws a StartError that names DATABASE_URL when waiting cannot help, or when the time is up.
 */
export async function waitForDatabase(
  url: string,
  seconds: number,
  say: (line: string) => void,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (let told = false; ; told = true) {
    try {
      await askAtStart(url, ANSWER_MS, (connection) => connection.query('SELECT 1'));
      return;
    } catch (error) {
      const problem = connectionProblem(error);
      if (!isPassing(error)) throw new StartError(`DATABASE_URL: ${problem}`);
      if (performance.now() + TRY_EVERY_MS > deadline) {
        throw new StartError(`DATABASE_URL: ${problem}; waited for ${seconds} s (DATABASE_WAIT_SECONDS)`);
      }
      if (!told) say(`Waiting up to ${seconds} s for the database: ${problem}`);
      await pause(TRY_EVERY_MS);
    }
  }
}

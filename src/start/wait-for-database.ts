import { setTimeout as pause } from 'node:timers/promises';
import { connectionProblem, isPassing } from '#platform/database/connections/connection-problem.js';
import { askAtStart } from './ask-at-start.js';
import { StartError } from './start-error.js';

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

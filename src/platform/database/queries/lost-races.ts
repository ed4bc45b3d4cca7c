import { isLostRace } from './database-errors.js';

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

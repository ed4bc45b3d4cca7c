import { PurgeService } from '../../src/database/purge/purge.service.js';
import type { TestService } from './test-service.js';

/** Ends the purge of every minute, for tests that count rows or what is read: it notes changes, and deletes what has expired. */
export async function stopPurges({ instances }: Pick<TestService, 'instances'>): Promise<void> {
  await Promise.all(instances.map(({ app }) => app.get(PurgeService).beforeApplicationShutdown()));
}

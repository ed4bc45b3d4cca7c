import { PurgeService } from '../../src/database/purge/purge.service.js';
import type { TestService } from './test-service.js';

/**
 * Leaves out the purge of every minute, for tests that purge themselves: it would delete rows of theirs, or hold them so that
 * their own purge passes over them.
 */
export function leaveOutScheduledPurges({ instances }: Pick<TestService, 'instances'>): void {
  // As while one is running.
  for (const { app } of instances) Object.assign(app.get(PurgeService), { running: Promise.resolve() });
}

/** Ends the purge of every minute, for tests that count rows or what is read: it notes changes, and deletes what has expired. */
export async function stopPurges({ instances }: Pick<TestService, 'instances'>): Promise<void> {
  await Promise.all(instances.map(({ app }) => app.get(PurgeService).beforeApplicationShutdown()));
}

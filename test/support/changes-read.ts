import { AccessChanges, TRUSTED_MS } from '#platform/database/changes/access-changes.service.js';
import { HeldTimers } from './held-timers.js';
import type { TestService } from './test-service.js';

/**
 * Resolves when every instance has read what was changed, however long that takes; by itself, an instance stops waiting after 90 ms, and
 * asks the database instead.
 */
export async function changesRead({ instances }: Pick<TestService, 'instances'>): Promise<void> {
  const silence = HeldTimers.hold(TRUSTED_MS, TRUSTED_MS, 'access-changes');
  try {
    await Promise.all(instances.map(({ app }) => app.get(AccessChanges).catchUp()));
  } finally {
    silence.release();
  }
}

import type { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { until } from './until.js';

/**
 * Waits until the tokens that an instance issues count as issued after a change. Transactions that were open at the time of the
 * change delay this, including those of tests that run in parallel on the same cluster.
 */
export function untilPast(changes: AccessChanges, id: string): Promise<void> {
  return until('what is issued counts as issued after the change', async () => {
    await changes.catchUp();
    return !changes.hasChangedSince(changes.stamp, [id]);
  });
}

import type { AccessChanges } from '../../src/database/access-changes.service.js';
import { until } from './until.js';

/**
 * Waits until what an instance issues counts as issued after a change. Transactions that were open at the change hold this up:
 * those of the whole cluster, so also those of tests beside this one.
 */
export function untilPast(changes: AccessChanges, id: string): Promise<void> {
  return until('what is issued counts as issued after the change', async () => {
    await changes.catchUp();
    return !changes.hasChangedSince(changes.stamp, [id]);
  });
}

import type { Type } from '@nestjs/common';
import type { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { atEndOfFile } from './between-files.js';
import type { TestInstance, TestService } from './test-service.js';

/**
 * Leaves out what a worker does on its schedule, until the end of the file, for tests that have it work themselves: on a slow machine it
 * would come between two of their steps.
 */
export async function leaveOutSchedule(
  { instances }: Pick<TestService, 'instances'>,
  worker: Type<PeriodicWorker>,
): Promise<void> {
  for (const { app } of instances) {
    const periodic = app.get(worker);
    await periodic['running'];
    // As while it is running.
    periodic['running'] = Promise.resolve();
    atEndOfFile(() => void (periodic['running'] = undefined));
  }
}

/** The same for the purge of every minute, which would delete rows of a test, or hold them so that its own purge passes over them. */
export const leaveOutScheduledPurges = (service: Pick<TestService, 'instances'>): Promise<void> =>
  leaveOutSchedule(service, PurgeService);

/** Purges one table: a whole purge costs as much as many tests. */
export async function purgeOnly({ app }: Pick<TestInstance, 'app'>, table: string): Promise<void> {
  const service = app.get(PurgeService);
  const wanted = service.tasks().filter((task) => task.table === table);
  const spy = jest.spyOn(service, 'tasks').mockReturnValue(wanted);
  try {
    await service.purge();
  } finally {
    spy.mockRestore();
  }
}

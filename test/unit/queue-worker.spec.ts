import type { HttpAdapterHost } from '@nestjs/core';
import { QueueWorker } from '#platform/database/background/queue-worker.js';
import type { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { turns } from '../support/held-timers.js';

class Worker extends QueueWorker {
  claims = 0;

  constructor(private readonly mark: { isOutdated: boolean }) {
    super('Rows', {} as HttpAdapterHost, mark as SchemaCompatibility);
  }

  protected hasRoom(): boolean {
    return true;
  }

  /** There is always more; the schema moves on during the third. */
  protected async claim(): Promise<boolean> {
    this.mark.isOutdated = ++this.claims === 3;
    // So that it ends without the mark too.
    return this.claims < 10;
  }

  wake(): Promise<void> {
    return this.claimDue();
  }
}

it('a worker claims nothing more once the schema is outdated, and goes on when it is not', async () => {
  const mark = { isOutdated: false };
  const worker = new Worker(mark);
  worker.onApplicationBootstrap();
  await turns();
  expect(worker.claims).toBe(3);
  await worker.wake();
  expect(worker.claims).toBe(3);
  mark.isOutdated = false;
  await worker.wake();
  expect(worker.claims).toBe(10);
});

import { Logger } from '@nestjs/common';
import { PlannedEventsWorker } from '#events/sandbox/planned-events.worker.js';
import { HeldTimers, turns } from '../support/held-timers.js';

const POLL_MS = 5_000;
// More than these wake-ups need. A loop without end is broken off here, as nothing else could end it.
const MOST_LOOKS = 100;

describe('the worker that publishes planned events', () => {
  let polls: HeldTimers;
  let schema: { outdated: boolean; looks: number; readonly isOutdated: boolean };
  let asked: number;
  let answer: () => Promise<number | undefined>;
  let worker: PlannedEventsWorker;

  beforeEach(() => {
    polls = HeldTimers.hold(POLL_MS, POLL_MS, 'planned-events.worker');
    schema = {
      outdated: false,
      looks: 0,
      get isOutdated() {
        if (++this.looks > MOST_LOOKS) throw new Error('it looks without end');
        return this.outdated;
      },
    };
    asked = 0;
    answer = async () => undefined;
    const plans = { secondsUntilNext: () => (asked++, answer()) };
    const [publishing, transactions, server] = [{}, {}, {}];
    worker = new PlannedEventsWorker(
      ...([
        plans,
        publishing,
        { aheadSeconds: 0 },
        transactions,
        schema,
        server,
        { works: true },
      ] as unknown as ConstructorParameters<typeof PlannedEventsWorker>),
    );
  });
  afterEach(() => {
    worker.beforeApplicationShutdown();
    polls.release();
  });

  it('leaves the process to others while the schema is outdated, and begins again when it is not', async () => {
    schema.outdated = true;
    worker.onApplicationBootstrap();
    for (let n = 0; n < 3; n++) worker.wake();
    await turns();
    polls.letPass();
    await turns();
    expect(asked).toBe(0);
    expect(schema.looks).toBeLessThan(10);
    schema.outdated = false;
    polls.letPass();
    await turns();
    expect([asked, polls.count]).toEqual([1, 1]);
  });

  it('looks again for what was planned during a look, and stops at a shutdown', async () => {
    const answers: (() => void)[] = [];
    answer = () => new Promise((resolve) => answers.push(() => resolve(undefined)));
    worker.onApplicationBootstrap();
    for (let n = 0; n < 3; n++) worker.wake();
    expect(asked).toBe(1);
    answers.shift()!();
    await turns();
    expect(asked).toBe(2);
    worker.wake();
    worker.beforeApplicationShutdown();
    answers.shift()!();
    await turns();
    expect([asked, polls.count]).toEqual([2, 0]);
  });

  it('looks again later when it could not', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    answer = () => Promise.reject(new Error('on purpose'));
    worker.onApplicationBootstrap();
    await turns();
    expect([asked, polls.count]).toEqual([1, 1]);
    polls.letPass();
    await turns();
    expect([asked, warned.mock.calls.length]).toEqual([2, 2]);
    warned.mockRestore();
  });
});

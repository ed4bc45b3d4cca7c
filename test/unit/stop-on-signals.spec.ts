import { exitOnSignals, stopOnSignals } from '#start/stop-on-signals.js';
import { HeldTimers, turns } from '../support/held-timers.js';

// Contract §14: it exits with 0 within 10 s, even if work never ends.
const PROMISE_MS = 10_000;

describe('a stop signal', () => {
  let limit: HeldTimers;
  let exits: unknown[];
  let before: NodeJS.SignalsListener[];

  beforeEach(() => {
    limit = HeldTimers.hold(1_000, PROMISE_MS - 1, '/stop-on-signals.');
    exits = [];
    jest.spyOn(process, 'exit').mockImplementation((code) => exits.push(code) as never);
    before = process.listeners('SIGTERM');
  });
  afterEach(() => {
    // No timer may fire after the process's own exit is restored.
    limit.letPass();
    limit.release();
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      for (const each of process.listeners(name)) if (!before.includes(each)) process.off(name, each);
    jest.restoreAllMocks();
  });

  /** Simulates the signal without calling other listeners of this process. */
  const signal = (name: NodeJS.Signals) => {
    for (const each of process.listeners(name)) if (!before.includes(each)) each(name);
  };

  it('ends a process that is still loading at once, and starts a stop from then on', async () => {
    exitOnSignals();
    signal('SIGTERM');
    expect(exits).toEqual([0]);
    let stops = 0;
    stopOnSignals(() => (stops++, new Promise(() => undefined)));
    signal('SIGTERM');
    await turns();
    expect([stops, exits]).toEqual([1, [0]]);
  });

  it('makes the process exit with 0 in time, even if the work never ends', async () => {
    stopOnSignals(() => new Promise(() => undefined));
    signal('SIGTERM');
    await turns();
    expect([exits, limit.count]).toEqual([[], 1]);
    limit.letPass();
    expect(exits).toEqual([0]);
  });

  it('makes it exit when the work has ended, before any limit; further signals do not start the stop again', async () => {
    let stops = 0;
    let end!: () => void;
    stopOnSignals(() => (stops++, new Promise((resolve) => (end = resolve))));
    for (const name of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) signal(name);
    await turns();
    expect([stops, exits]).toEqual([1, []]);
    end();
    await turns();
    expect([limit.count, exits]).toEqual([1, [0]]);
  });

  it('makes it exit with 1 if stopping fails', async () => {
    jest.spyOn(process.stderr, 'write').mockImplementation((...args: unknown[]) => {
      (args.at(-1) as () => void)();
      return true;
    });
    stopOnSignals(() => Promise.reject(new Error('on purpose')));
    signal('SIGINT');
    await turns();
    expect(exits).toEqual([1]);
  });
});

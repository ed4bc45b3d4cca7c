import type {
  AccessChangesRepository,
  ChangesRead,
  ChangesSince,
} from '#platform/database/changes/access-changes.repository.js';
import { AccessChanges, type Stamp } from '#platform/database/changes/access-changes.service.js';
import type { AccessSubject } from '#platform/database/changes/access-subject.js';
import type { ConnectionFollower, Listener } from '#platform/database/connections/listener.service.js';
import { turns } from '../support/held-timers.js';

const USER = 'user-one';
// The snapshot that sees nothing as ended.
const BEGINNING = '3:3:';

/** The reads of the access changes, while a database is there, and after it crashed and lost the end of its log. */
describe('The access changes', () => {
  let connection: ConnectionFollower;
  let changes: AccessChanges;
  /** From which snapshot each read went on. */
  let from: string[];
  let told: { subjects: readonly AccessSubject[]; before: Stamp }[];
  let gaps: number;
  let next: ChangesRead;
  let replays: { position: number; end: (result: Promise<ChangesSince[]>) => void }[];

  beforeEach(() => {
    [from, told, gaps, replays] = [[], [], 0, []];
    // Its own: that of the test before may still prove that it is up to date.
    const reads = from;
    const listener = {
      isConnected: true,
      follow: (follower: ConnectionFollower) => (connection = follower),
    } as unknown as Listener;
    const repository = {
      readSince: (snapshot: string) => {
        reads.push(snapshot);
        return Promise.resolve([{ ...next, changes: [...next.changes] }]);
      },
      readSubjectsSince: (position: number) =>
        new Promise<ChangesSince[]>((end) => replays.push({ position, end })),
    } as unknown as AccessChangesRepository;
    changes = new AccessChanges(listener, repository);
    changes.follow({
      onChanges: (subjects, before) => told.push({ subjects, before }),
      onGap: () => gaps++,
    });
  });

  /** What the database answers from now on: all transactions below `position` have ended. */
  const answer = (position: number, rest: Partial<ChangesRead> = {}): void => {
    const snapshot = `${position}:${position}:`;
    const empty = { logged: 0, flushed: 0, now: 0, life: 'one', isPurged: false, changes: [] };
    next = { snapshot, position, ...empty, ...rest };
  };
  const read = async (position: number, rest: Partial<ChangesRead> = {}) => {
    answer(position, rest);
    await changes.catchUp();
  };
  const reconnect = async (position: number, rest: Partial<ChangesRead> = {}) => {
    connection.onLost?.();
    answer(position, rest);
    connection.onConnected();
    await turns();
  };

  beforeEach(async () => {
    await reconnect(10, { logged: 100, flushed: 100 });
    from.length = 0;
    gaps = 0;
  });

  it('are read once while the connection lasts', async () => {
    await read(20, { logged: 200, flushed: 100 });
    await read(30, { logged: 300, flushed: 300 });
    await read(40, { logged: 300, flushed: 300 });
    expect(from).toEqual(['10:10:', '20:20:', '30:30:']);
  });

  it('are read again after a crash from where the log was on the disk, so a number that is given out again is noticed', async () => {
    await read(20, { logged: 200, flushed: 150 });
    const [issued, cached] = [{ era: changes.era, position: 12 }, changes.position];
    expect(changes.hasChangedSince(issued, [USER])).toBe(false);
    await reconnect(16, { logged: 170, flushed: 170, changes: [[15, [USER], [{ user_id: USER }], 15]] });
    expect(from).toEqual(['10:10:', '10:10:']);
    for (const [id, changed] of [
      [USER, true],
      ['other', false],
    ] as const) {
      expect([changes.hasChangedSince(issued, [id]), changes.hasChanged(cached, [id])]).toEqual([
        changed,
        changed,
      ]);
    }
    expect(told).toEqual([{ subjects: [{ user_id: USER }], before: { era: changes.era, position: 10 } }]);
    expect([gaps, changes.stamp.position, changes.durableStamp.position]).toEqual([0, 16, 16]);
  });

  it('go on from a read once the log is on the disk as far as it had been written then', async () => {
    await read(20, { logged: 200, flushed: 150 });
    await read(30, { logged: 300, flushed: 199 });
    expect(changes.durableStamp.position).toBe(10);
    await read(40, { logged: 400, flushed: 200 });
    expect([changes.stamp.position, changes.durableStamp.position]).toEqual([40, 20]);
    await reconnect(50);
    expect(from.at(-1)).toBe('20:20:');
  });

  it('do not take what is written after a crash for what the crash cut off', async () => {
    await read(20, { logged: 200, flushed: 150 });
    await reconnect(16, { logged: 300, flushed: 250 });
    await reconnect(17, { logged: 300, flushed: 250 });
    expect(from).toEqual(['10:10:', '10:10:', '10:10:']);
  });

  it('that are told while the end of the log is not on the disk are found again from the stamp they are told with', async () => {
    await read(20, { logged: 200, flushed: 150 });
    await read(30, { logged: 300, flushed: 300, changes: [[25, [USER], [{ user_id: USER }], 25]] });
    expect(told.map(({ before }) => before.position)).toEqual([10]);
    expect(changes.durableStamp.position).toBe(30);
  });

  it('of which some were purged while nothing was read are read from the beginning: everything else may have changed', async () => {
    const [issued, cached] = [{ era: changes.era, position: 10 }, changes.position];
    await reconnect(500, { isPurged: true, changes: [[490, [USER], [{ user_id: USER }], 490]] });
    expect(from).toEqual(['10:10:', BEGINNING]);
    expect([changes.hasChanged(cached, ['other']), changes.hasChanged(changes.position, [USER])]).toEqual([
      true,
      false,
    ]);
    // Tokens of before what was purged have expired.
    expect(['other', USER].map((id) => changes.hasChangedSince(issued, [id]))).toEqual([false, true]);
    expect([told, gaps]).toEqual([[], 2]);
    await reconnect(510);
    expect(from.at(-1)).toBe('500:500:');
  });

  it('are replayed one at a time, also after a replay that fails, so that a read never waits for several', async () => {
    const { era } = changes;
    const outcomes = Promise.allSettled(
      [5, 6, 7].map((position) => changes.subjectsSince({ era, position })),
    );
    const results = [
      () => Promise.reject(new Error('not connected')),
      () => Promise.resolve([{ purged: 1, changes: [[{ user_id: USER }]] }]),
      () => Promise.resolve([{ purged: 1, changes: [] }]),
    ];
    for (const [n, result] of results.entries()) {
      await turns();
      expect(replays.map(({ position }) => position)).toEqual([5, 6, 7].slice(0, n + 1));
      replays[n]!.end(result());
    }
    expect(await outcomes).toEqual([
      { status: 'rejected', reason: new Error('not connected') },
      { status: 'fulfilled', value: [{ user_id: USER }] },
      { status: 'fulfilled', value: [] },
    ]);
  });

  it('are read from the beginning after the process stood still: what was read for some seconds has lasted longer', async () => {
    await read(20, { now: 59_000 });
    const cached = changes.position;
    expect([from, gaps]).toEqual([['10:10:'], 0]);
    await read(30, { now: 59_000 + 61_000 });
    expect([from, gaps]).toEqual([['10:10:', '20:20:', BEGINNING], 1]);
    expect([changes.hasChanged(cached, ['other']), changes.isTrusted]).toEqual([true, true]);
    expect(Math.round(changes.databaseNow / 1000)).toBe(120);
    await read(40, { now: 121_000 });
    expect([from.at(-1), gaps]).toEqual(['30:30:', 1]);
  });

  it('of another database are read from the beginning', async () => {
    const { era } = changes;
    await reconnect(500, { life: 'two', logged: 100, flushed: 50 });
    expect(from).toEqual(['10:10:', BEGINNING]);
    expect([changes.era === era, changes.durableStamp.era, gaps]).toEqual([false, 0, 1]);
    await reconnect(510, { life: 'two' });
    expect(from.at(-1)).toBe(BEGINNING);
  });
});

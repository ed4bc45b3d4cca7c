import { Client } from 'pg';
import { AccessChanges, TRUSTED_MS } from '#platform/database/changes/access-changes.service.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { accessTokenId } from '#access/tokens/keys/token-record.js';
import { holdClock, putClockForward } from '../support/clock.js';
import { HeldTimers, turns } from '../support/held-timers.js';
import { isAccepted, until, useSharedService } from '../support/spec.js';
import { accessRecordOf } from '../support/tokens.js';

/** The answers to the instance's reads of the access changes, which arrive when the test lets them through. */
interface HeldAnswers {
  /** How many reads have seen the current changes and wait for their answer. */
  waiting(): number;
  letThrough(): void;
  release(): void;
}

/** The test holds the clock: time only passes when it is put forward. */
describe('An instance that has cached a token', () => {
  const service = useSharedService();
  let changes: AccessChanges;
  let outside: Client;
  let token: string;
  let tokenId: string;
  let goOn: () => void;
  let answers: HeldAnswers;

  beforeAll(async () => {
    changes = service.app.get(AccessChanges);
    outside = new Client({ connectionString: service.database.url });
    await outside.connect();
  });
  beforeEach(async () => {
    token = (await service.make.tokens(await service.make.client(), await service.make.user())).access_token;
    tokenId = accessTokenId(await accessRecordOf(service, token));
    expect(await isCached()).toBe(true);
    goOn = holdClock();
    putClockForward(TRUSTED_MS / 1000);
    // By a read that started at this moment.
    await until('it has read', () => changes.isTrusted);
    // That read may have brought what invalidates the cached token: from here on nothing does.
    expect(await isCached()).toBe(true);
    answers = holdAnswers();
  });
  afterEach(async () => {
    answers.release();
    goOn();
    await until('it reads again', () => changes.isTrusted);
  });
  afterAll(() => outside.end());

  const isCached = () => isAccepted(service.http, token);

  function holdAnswers(): HeldAnswers {
    const listener = service.app.get(Listener);
    const ask = listener.query.bind(listener);
    const held: (() => void)[] = [];
    let released = false;
    const letThrough = () => held.splice(0).forEach((pass) => pass());
    const spy = jest.spyOn(listener, 'query').mockImplementation(async (config) => {
      const rows = await ask(config);
      // One that was under way at the release answers after it, when nobody would let it through.
      if (!released) await new Promise<void>((pass) => held.push(pass));
      return rows as never;
    });
    return {
      waiting: () => held.length,
      letThrough,
      release: () => {
        released = true;
        spy.mockRestore();
        letThrough();
      },
    };
  }

  /** Revokes the token in a way that the instance learns only by reading. */
  const end = () =>
    outside.query(
      "INSERT INTO revoked_access_tokens (id, expires_at) VALUES ($1, now() + interval '1 hour')",
      [tokenId],
    );

  it('queries the database for it 90 ms after the start of the last read', async () => {
    // Until then one that began before the answers were held may be under way, and see the end.
    await until('a reading is under way', () => answers.waiting() === 1);
    await end();
    putClockForward((TRUSTED_MS - 1) / 1000);
    // The instance has not read the change yet, which is allowed.
    expect(await isCached()).toBe(true);
    putClockForward(0.001);
    expect(await isCached()).toBe(false);
  });

  it('measures this time from the start of a read, not from the arrival of its answer', async () => {
    await until('a reading is under way', () => answers.waiting() === 1);
    await end();
    putClockForward(TRUSTED_MS / 1000);
    answers.letThrough();
    await turns();
    expect(await isCached()).toBe(false);
  });

  it('queries the database for it immediately when a read fails', async () => {
    await until('a reading is under way', () => answers.waiting() === 1);
    await end();
    expect(await isCached()).toBe(true);
    answers.release();
    const failing = jest.spyOn(service.app.get(Listener), 'query').mockRejectedValue(new Error('cut'));
    await until('one has failed', () => failing.mock.calls.length > 0);
    await turns();
    expect(await isCached()).toBe(false);
    failing.mockRestore();
  });

  it('has caught up with a change after a read that started later, not after one already in progress', async () => {
    // This timer would count the connection as silent, so that waiting ends.
    const silence = HeldTimers.hold(TRUSTED_MS);
    try {
      await until('a reading is under way', () => answers.waiting() === 1);
      await end();
      let hasCaughtUp = false;
      const catchingUp = changes.catchUp().then(() => (hasCaughtUp = true));
      answers.letThrough();
      await until('the next is under way', () => answers.waiting() === 1);
      expect([hasCaughtUp, await isCached()]).toEqual([false, true]);
      answers.letThrough();
      await catchingUp;
      expect(await isCached()).toBe(false);
    } finally {
      silence.release();
    }
  });
});

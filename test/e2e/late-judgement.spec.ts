import { AccessChanges, TRUSTED_MS } from '#platform/database/changes/access-changes.service.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { accessTokenId, type AccessTokenRecord } from '#access/tokens/keys/token-record.js';
import { changesRead } from '../support/changes-read.js';
import { putClockForward } from '../support/clock.js';
import { isAccepted, madeForEach, madeOnce, until } from '../support/spec.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { connectionTo } from '../support/test-database.js';
import { PATIENT, type TestInstance, useSharedService } from '../support/test-service.js';
import { accessRecordOf } from '../support/tokens.js';

/** A slow check of a token: its client is not cached, and the database is slow to answer. */
describe('A token that is revoked while an instance is still looking its client up', () => {
  const service = useSharedService({ instances: 2, databaseOptions: PATIENT });
  let there: TestInstance;
  let token: string;
  let record: AccessTokenRecord;
  const slow = madeOnce(() => connectionTo(service));
  const outside = madeOnce(() => connectionTo(service));

  beforeAll(async () => (there = service.instances[1]!));
  const client = madeForEach(() => service.make.client());
  beforeEach(async () => {
    const other = await service.make.clientToken(await service.make.client());
    token = (await service.make.tokens(client, await service.make.user())).access_token;
    record = await accessRecordOf(service, token);
    // Keys and scopes are cached, this client is not.
    expect(await isAccepted(there.http, other)).toBe(true);
    await until('it has read', () => changes().isTrusted);
    await slow.query('BEGIN');
    await slow.query('LOCK TABLE clients');
  });

  const changes = () => there.app.get(AccessChanges);
  /** Returns the result of a check that starts before the ending and completes after it. */
  async function judgedAmid(end: () => Promise<unknown>): Promise<boolean> {
    const looking = isAccepted(there.http, token);
    await untilWaitingForLocks(service.database, 1);
    await end();
    await slow.query('ROLLBACK');
    return looking;
  }

  const revoke = () =>
    outside.query(
      "INSERT INTO revoked_access_tokens (id, expires_at) VALUES ($1, now() + interval '1 hour')",
      [accessTokenId(record)],
    );

  it('is refused if the instance has read the access change', async () => {
    const heard = async () => {
      await revoke();
      await changes().catchUp();
    };
    expect(await judgedAmid(heard)).toBe(false);
  });

  it('is refused if the instance has read no changes for longer than its cache is trusted', async () => {
    let breakOff = (_error: Error) => {};
    const silence = new Promise<never>((_resolve, reject) => (breakOff = reject));
    const listening = jest.spyOn(there.app.get(Listener), 'query').mockReturnValue(silence);
    const unheard = async () => {
      await revoke();
      putClockForward(TRUSTED_MS / 1000);
    };
    try {
      expect(await judgedAmid(unheard)).toBe(false);
    } finally {
      listening.mockRestore();
      breakOff(new Error('cut'));
    }
  });

  it('is refused if its key was revoked and the instance has read that change', async () => {
    const heard = async () => {
      await outside.query('UPDATE token_keys SET retired_at = now(), revoked_at = now() WHERE id = $1', [
        record.keyId,
      ]);
      await changes().catchUp();
    };
    expect(await judgedAmid(heard)).toBe(false);
    // Once every instance has heard of it, the service goes on with another key.
    await changesRead(service);
    expect(await isAccepted(there.http, await service.make.clientToken(client))).toBe(true);
  });
});

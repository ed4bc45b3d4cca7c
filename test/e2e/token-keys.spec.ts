import { createSecretKey, randomBytes } from 'node:crypto';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { SealedBox, seal } from '#platform/secrets/sealed-box.js';
import { TokenKeysService } from '#access/tokens/keys/token-keys.service.js';
import { writeRefreshToken } from '#access/tokens/keys/token-record.js';
import { changesRead } from '../support/changes-read.js';
import { madeForEach, madeOnce, type Tokens } from '../support/spec.js';
import { expectOAuthError, isAccepted, refresh } from '../support/oauth.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';
import {
  startInstance,
  TEST_ENCRYPTION_KEY,
  type TestInstance,
  useService,
} from '../support/test-service.js';
import { endGrace, keysAtStart, refreshRecordOf, tokenKeysOf } from '../support/tokens.js';

const NEXT_ENCRYPTION_KEY = Buffer.alloc(32, 'n').toString('base64');
/** A grant lives for a year, and is kept for 30 days after its end. */
const NEEDED = '394 days 23 hours';
const NEEDED_NO_MORE = '395 days 1 hour';

const service = useService({ instances: 2 });
beforeAll(() => leaveOutScheduledPurges(service));
const client = madeOnce(() => service.make.client());
const user = madeOnce(() => service.make.user());
const keysOf = ({ app }: TestInstance) => app.get(TokenKeysService);
const keys = () => keysOf(service);
const use = (token: string, http = service.http) => refresh(http, client, token);
const expectRefused = async (token: string) => expectOAuthError(await use(token), 400, 'invalid_grant');

/** Refresh tokens and the keys that sign them. */
describe('A refresh token', () => {
  let second: Tokens;

  const first = madeForEach(() => service.make.tokens(client, user));
  beforeEach(async () => (second = (await use(first.refresh_token)).json as Tokens));

  const goesOn = async () => {
    expect(await isAccepted(service.http, second.access_token)).toBe(true);
    return ((await use(second.refresh_token)).json as Tokens).refresh_token;
  };

  it('with a forged signature revokes nothing, whichever generation of a grant it names', async () => {
    const record = await refreshRecordOf(service, first.refresh_token);
    const forged = [record.keyId, record.keyId + 1].flatMap((keyId) =>
      [0, 1, 2, 2 ** 31].map((generation) =>
        writeRefreshToken({ ...record, keyId, generation }, createSecretKey(randomBytes(32))),
      ),
    );
    await endGrace(service, first.refresh_token);
    for (const token of forged) await expectRefused(token);
    expect(await goesOn()).toBeDefined();
  });

  it('of a revoked key is refused, and revokes nothing that another key signed', async () => {
    const { keyId } = await refreshRecordOf(service, first.refresh_token);
    await keys().rotate();
    const third = (await use(second.refresh_token)).json as Tokens;
    await keys().revoke(keyId);
    await endGrace(service, first.refresh_token);
    // With the leaked key, a thief can sign any generation.
    const leaked = (await tokenKeysOf(service)).get(keyId)!;
    const { grantId } = await refreshRecordOf(service, third.refresh_token);
    const made = [0, 1, 2, 3].map((generation) => writeRefreshToken({ keyId, grantId, generation }, leaked));
    for (const token of [first.refresh_token, second.refresh_token, ...made]) await expectRefused(token);
    expect(await isAccepted(service.http, third.access_token)).toBe(true);
    expect((await use(third.refresh_token)).status).toBe(200);
  });

  it("does not return its successor if the successor's key has been revoked", async () => {
    const { keyId } = await refreshRecordOf(service, second.refresh_token);
    await keys().revoke(keyId);
    await expectRefused(first.refresh_token);
    await expectRefused(second.refresh_token);
  });

  it('returns the same pair again after a key rotation, and the next refresh uses the new key', async () => {
    await keys().rotate();
    expect((await use(first.refresh_token)).json).toMatchObject({
      access_token: second.access_token,
      refresh_token: second.refresh_token,
    });
    const third = await refreshRecordOf(service, await goesOn());
    expect(third.keyId).toBe((await keys().signing()).id);
    expect(third.keyId).not.toBe((await refreshRecordOf(service, second.refresh_token)).keyId);
  });

  it('returns the same pair again under another ENCRYPTION_KEY', async () => {
    const env = { ENCRYPTION_KEY: NEXT_ENCRYPTION_KEY, ENCRYPTION_KEYS_PREVIOUS: TEST_ENCRYPTION_KEY };
    const next = await startInstance(service.database, env);
    try {
      expect((await use(first.refresh_token, next.http)).json).toMatchObject({
        access_token: second.access_token,
        refresh_token: second.refresh_token,
      });
    } finally {
      await next.app.close();
    }
  });

  it('is still detected as a replay, which revokes its grant, after a key rotation', async () => {
    await keys().rotate();
    const third = await goesOn();
    await endGrace(service, first.refresh_token);
    await expectRefused(first.refresh_token);
    await expectRefused(third);
    expect(await isAccepted(service.http, second.access_token)).toBe(false);
  });
});

/** A retired key is still needed to tell a replay of a token that it signed from a forged token. */
describe('A retired token key', () => {
  let first: Tokens;
  let second: Tokens;
  let keyId: number;

  beforeEach(async () => {
    first = await service.make.tokens(client, user);
    ({ keyId } = await refreshRecordOf(service, first.refresh_token));
    await keys().rotate();
    second = (await use(first.refresh_token)).json as Tokens;
    await endGrace(service, first.refresh_token);
  });

  const isKept = async () => (await keys().list()).some(({ id }) => id === keyId);
  const purgeAfter = async (time: string) => {
    await service.database.query('UPDATE token_keys SET retired_at = now() - $2::interval WHERE id = $1', [
      keyId,
      time,
    ]);
    await service.app.get(PurgeService).purge();
  };
  const isLive = () => isAccepted(service.http, second.access_token);

  it('is deleted with the last grant that it can have signed for; then a replay is unknown and revokes nothing', async () => {
    await purgeAfter(NEEDED_NO_MORE);
    expect(await isKept()).toBe(false);
    // The service reads the keys again, as after a start.
    await keys().signing();
    await expectRefused(first.refresh_token);
    expect(await isAccepted(service.http, first.access_token)).toBe(false);
    expect(await isLive()).toBe(true);
  });

  it('is kept until its last grant is deleted, so that a replay is detected', async () => {
    await purgeAfter(NEEDED);
    expect(await isKept()).toBe(true);
    expect(await isLive()).toBe(true);
    await expectRefused(first.refresh_token);
    expect(await isLive()).toBe(false);
  });

  it('is kept as long as the longest grant lifetime that any instance has used, whatever the setting is now', async () => {
    ({ id: keyId } = await keys().signing());
    await keysAtStart(service, { grantTtl: 2 * 365 * 86_400 });
    await keys().rotate();
    await purgeAfter(NEEDED_NO_MORE);
    expect(await isKept()).toBe(true);
    await purgeAfter('760 days 1 hour');
    expect(await isKept()).toBe(false);
  });
});

describe('Token keys', () => {
  let instances: TestInstance[];

  beforeAll(async () => (instances = service.instances));

  const signing = () => Promise.all(instances.map(async (each) => (await keysOf(each).signing()).id));
  const states = async () => Object.fromEntries((await keys().list()).map(({ id, state }) => [id, state]));

  it('are created once, however many instances start at the same moment', async () => {
    await service.database.query('DELETE FROM token_keys');
    const made = await Promise.all(
      [...instances, ...instances, ...instances].map(async (each) => (await keysOf(each).signing()).id),
    );
    const [{ n }] = (await service.database.query('SELECT count(*)::int AS n FROM token_keys')) as [
      { n: number },
    ];
    expect([new Set(made).size, n]).toEqual([1, 1]);
  });

  it('are rotated by the operator: the new one signs everywhere, the old one still verifies', async () => {
    const [old] = await signing();
    const id = await keys().rotate();
    await changesRead(service);
    expect(await signing()).toEqual([id, id]);
    expect(await states()).toMatchObject({ [old!]: 'verifies', [id]: 'signs' });
    expect(instances.map((each) => keysOf(each).secretOf(old!))).not.toContain(undefined);
  });

  it('are rotated once by instances that try at the same moment', async () => {
    const before = Object.keys(await states()).length;
    const rotations = async () =>
      (await service.database.query("SELECT 1 FROM audit_events WHERE action = 'token_key.rotated'")).length;
    const rotated = await rotations();
    await service.database.query(`UPDATE token_keys SET created_at = now() - interval '91 days'`);
    await Promise.all([...instances, ...instances].map((each) => keysOf(each).rotateWhenOld()));
    expect(Object.keys(await states())).toHaveLength(before + 1);
    expect(Object.values(await states()).filter((state) => state === 'signs')).toHaveLength(1);
    expect(await rotations()).toBe(rotated + 1);
  });

  it('are not rotated before 90 days', async () => {
    const [id] = await signing();
    await service.database.query(
      `UPDATE token_keys SET created_at = now() - interval '89 days' WHERE id = $1`,
      [id],
    );
    await keys().rotateWhenOld();
    expect(await signing()).toEqual([id, id]);
  });

  it('can be revoked: another key signs, and every instance knows', async () => {
    const [id] = await signing();
    const { access_token: known } = await service.make.tokens(client, user);
    const accepted = () => Promise.all(instances.map(({ http }) => isAccepted(http, known)));
    expect(await accepted()).toEqual([true, true]);
    await keys().revoke(id!);
    await changesRead(service);
    expect(await accepted()).toEqual([false, false]);
    const [now, there] = await signing();
    expect(now).toBe(there);
    expect(now).not.toBe(id);
    expect(await Promise.all(instances.map((each) => keysOf(each).isRevoked(id!)))).toEqual([true, true]);
    await expect(keys().revoke(id!)).rejects.toMatchObject({ status: 404 });
    for (const none of [0, -1, NaN, 1.5, 2 ** 40])
      await expect(keys().revoke(none)).rejects.toMatchObject({ status: 404 });
  });

  it('open if they were sealed under the ENCRYPTION_KEY itself, until they are sealed again', async () => {
    const encryptionKey = service.settings.encryptionKeys[0]!;
    for (const [id, key] of await tokenKeysOf(service)) {
      const sealed = seal(encryptionKey, key.export().toString('base64'), `token key ${id}`);
      await service.database.query('UPDATE token_keys SET sealed = $2 WHERE id = $1', [id, sealed]);
    }
    const later = await keysAtStart(service);
    const [one, other] = [await later.signing(), await keys().signing()];
    expect(one.secret.equals(other.secret)).toBe(true);
    expect((await later.reseal()).unreadable).toEqual([]);
    const box = new SealedBox('token key', [encryptionKey]);
    const rows = await service.database.query<{ id: number; sealed: Buffer }>(
      'SELECT id::float8 AS id, sealed FROM token_keys',
    );
    expect(rows.map(({ id, sealed }) => box.isCurrent(sealed, `token key ${id}`))).not.toContain(false);
  });

  it('open under another ENCRYPTION_KEY only while the previous one is also configured, until they are sealed again', async () => {
    const [old, fresh] = [Buffer.alloc(32, 'k'), Buffer.alloc(32, 'n')];
    await expect(keysAtStart(service, { encryptionKeys: [fresh] })).rejects.toThrow(
      /do not decrypt the token key/,
    );
    const both = await keysAtStart(service, { encryptionKeys: [fresh, old] });
    const [id] = await signing();
    expect((await both.signing()).id).toBe(id);
    const all = Object.keys(await states()).length;
    expect(await both.reseal()).toEqual({ resealed: all, unreadable: [] });
    const alone = await keysAtStart(service, { encryptionKeys: [fresh] });
    expect((await alone.signing()).secret.equals((await keys().signing()).secret)).toBe(true);
  });
});

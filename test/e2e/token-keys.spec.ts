import { AuditService } from '../../src/audit/audit.service.js';
import { Settings } from '../../src/config/settings.js';
import { AccessChanges } from '../../src/database/changes/access-changes.service.js';
import { Transactions } from '../../src/database/queries/transactions.js';
import { seal } from '../../src/secrets/seal.js';
import { SealedBox } from '../../src/secrets/sealed-box.js';
import { TokenKeysRepository } from '../../src/tokens/keys/token-keys.repository.js';
import { TokenKeysService } from '../../src/tokens/keys/token-keys.service.js';
import { tokenKeysOf } from '../support/tokens.js';
import { startInstance, type TestInstance, useService } from '../support/test-service.js';

/** The keys that sign tokens. */
describe('Token keys', () => {
  const service = useService({ instances: 2 });
  let instances: TestInstance[];

  beforeAll(async () => {
    instances = service.instances;
  });

  const keysOf = ({ app }: TestInstance) => app.get(TokenKeysService);
  const signing = () => Promise.all(instances.map(async (each) => (await keysOf(each).signing()).id));
  const states = async () =>
    Object.fromEntries((await keysOf(service).list()).map(({ id, state }) => [id, state]));
  /** Waits until every instance has read the earlier changes. */
  const everywhere = () => service.database.query('SELECT 1');

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
    const id = await keysOf(service).rotate();
    await everywhere();
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
    await keysOf(service).rotateWhenOld();
    expect(await signing()).toEqual([id, id]);
  });

  it('can be revoked: another key signs, and every instance knows', async () => {
    const [id] = await signing();
    await keysOf(service).revoke(id!);
    await everywhere();
    const [now, there] = await signing();
    expect(now).toBe(there);
    expect(now).not.toBe(id);
    expect(await Promise.all(instances.map((each) => keysOf(each).isRevoked(id!)))).toEqual([true, true]);
    await expect(keysOf(service).revoke(id!)).rejects.toMatchObject({ status: 404 });
    for (const none of [0, -1, NaN, 1.5, 2 ** 40]) {
      await expect(keysOf(service).revoke(none)).rejects.toMatchObject({ status: 404 });
    }
  });

  it('open if they were sealed under the ENCRYPTION_KEY itself, until they are sealed again', async () => {
    const encryptionKey = service.settings.encryptionKeys[0]!;
    for (const [id, key] of await tokenKeysOf(service)) {
      const sealed = seal(encryptionKey, key.export().toString('base64'), `token key ${id}`);
      await service.database.query('UPDATE token_keys SET sealed = $2 WHERE id = $1', [id, sealed]);
    }
    const later = await startInstance(service.database, {});
    const [one, other] = [await keysOf(later).signing(), await keysOf(service).signing()];
    expect(one.secret.equals(other.secret)).toBe(true);
    expect((await keysOf(later).reseal()).unreadable).toEqual([]);
    const box = new SealedBox('token key', [encryptionKey]);
    const rows = await service.database.query<{ id: number; sealed: Buffer }>(
      'SELECT id::float8 AS id, sealed FROM token_keys',
    );
    expect(rows.map(({ id, sealed }) => box.isCurrent(sealed, `token key ${id}`))).not.toContain(false);
    await later.app.close();
  });

  it('open under another ENCRYPTION_KEY only while the previous one is also configured, until they are sealed again', async () => {
    const [old, fresh] = [Buffer.alloc(32, 'k').toString('base64'), Buffer.alloc(32, 'n').toString('base64')];
    const { app } = service;
    const wrong = new TokenKeysService(
      app.get(TokenKeysRepository),
      Object.assign(new Settings(), service.settings, { encryptionKeys: [Buffer.alloc(32, 'n')] }),
      app.get(AccessChanges),
      app.get(Transactions),
      app.get(AuditService),
    );
    await expect(wrong.onApplicationBootstrap()).rejects.toThrow(/do not decrypt the token key/);
    const both = await startInstance(service.database, {
      ENCRYPTION_KEY: fresh,
      ENCRYPTION_KEYS_PREVIOUS: old,
    });
    const [id] = await signing();
    expect((await keysOf(both).signing()).id).toBe(id);
    const all = Object.keys(await states()).length;
    expect(await keysOf(both).reseal()).toEqual({ resealed: all, unreadable: [] });
    await both.app.close();
    const alone = await startInstance(service.database, { ENCRYPTION_KEY: fresh });
    expect((await keysOf(alone).signing()).secret.equals((await keysOf(service).signing()).secret)).toBe(
      true,
    );
    await alone.app.close();
  });
});

import { successorKey, unseal } from '../../src/secrets/seal.js';
import { digestOf } from '../../src/secrets/tokens.js';
import { PurgeService } from '../../src/tokens/purge.service.js';
import type { UserEntity } from '../../src/users/user.entity.js';
import type { TestClient, Tokens } from '../support/factory.js';
import { expectOAuthError, isAccepted, refresh } from '../support/oauth.js';
import {
  startInstance,
  startService,
  TEST_ENCRYPTION_KEY,
  type TestService,
} from '../support/test-service.js';

let service: TestService;
let client: TestClient;
let user: UserEntity;

beforeAll(async () => {
  service = await startService();
  client = await service.make.client();
  user = await service.make.user();
});
afterAll(() => service.stop());

/** A retired token within its grace time, and its successor. */
async function rotation(): Promise<{ retired: string; successor: Tokens }> {
  const { refresh_token } = await service.make.tokens(client, user);
  const answer = await refresh(service.http, client, refresh_token);
  return { retired: refresh_token, successor: answer.json as Tokens };
}

async function sealedOf(token: string): Promise<Buffer | undefined> {
  const sql = 'SELECT sealed FROM sealed_successors WHERE digest = $1';
  return (await service.database.query<{ sealed: Buffer }>(sql, [digestOf(token)]))[0]?.sealed;
}

describe('the sealed successor', () => {
  it('is ciphertext, different each time', async () => {
    const [one, two] = [await rotation(), await rotation()];
    for (const { retired, successor } of [one, two]) {
      const sealed = (await sealedOf(retired))!;
      for (const secret of [successor.access_token, successor.refresh_token, 'cds_', 'vehicle']) {
        expect(sealed.includes(secret)).toBe(false);
      }
    }
    const nonces = await Promise.all([one, two].map(async ({ retired }) => (await sealedOf(retired))!));
    expect(nonces[0]!.subarray(0, 12)).not.toEqual(nonces[1]!.subarray(0, 12));
  });

  it('opens with the retired token and the key of the settings together, for its own row, grant and client', async () => {
    const { retired, successor } = await rotation();
    const sealed = (await sealedOf(retired))!;
    const sql = 'SELECT grant_id FROM refresh_tokens WHERE digest = $1';
    const [grant] = await service.database.query<{ grant_id: string }>(sql, [digestOf(retired)]);
    const grant_id = grant!.grant_id;
    const row = digestOf(retired).toString('base64url');
    const place = `${row} ${grant_id} ${client.id}`;
    const key = Buffer.from(TEST_ENCRYPTION_KEY, 'base64');
    const right = successorKey(retired, key);
    expect(unseal(right, sealed, place)).toContain(successor.refresh_token);

    const wrongKeys = [
      key,
      digestOf(retired),
      successorKey('', key),
      successorKey(digestOf(retired).toString('hex'), key),
      successorKey(successor.refresh_token, key),
      successorKey(retired, Buffer.alloc(32)),
    ];
    for (const wrong of wrongKeys) expect(unseal(wrong, sealed, place)).toBeUndefined();
    const another = 'grnt01HN2NJ9NMRZBXT1H6FT9N7735';
    for (const wrong of [
      '',
      row,
      `${row} ${another} ${client.id}`,
      `${row} ${grant_id} clnt`,
      `x ${place}`,
    ]) {
      expect(unseal(right, sealed, wrong)).toBeUndefined();
    }
  });

  it('gives nothing when it is moved to another row, or a bit of it is changed', async () => {
    const [one, two] = [await rotation(), await rotation()];
    const set = (token: string, sealed: Buffer) =>
      service.database.query('UPDATE sealed_successors SET sealed = $2 WHERE digest = $1', [
        digestOf(token),
        sealed,
      ]);
    const sealed = (await sealedOf(one.retired))!;
    await set(two.retired, sealed);
    expectOAuthError(await refresh(service.http, client, two.retired), 400, 'invalid_grant');
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
    for (const bad of [changed, sealed.subarray(0, 10), Buffer.alloc(0)]) {
      await set(one.retired, bad);
      expectOAuthError(await refresh(service.http, client, one.retired), 400, 'invalid_grant');
    }
    expect(await isAccepted(service.http, two.successor.access_token)).toBe(true);
    expect((await refresh(service.http, client, one.successor.refresh_token)).status).toBe(200);
  });

  it('is erased when the grace time has ended, and not before', async () => {
    const [one, two] = [await rotation(), await rotation()];
    for (const table of ['refresh_tokens', 'sealed_successors']) {
      await service.database.query(`UPDATE ${table} SET grace_ends_at = now() WHERE digest = $1`, [
        digestOf(one.retired),
      ]);
    }
    await service.app.get(PurgeService).eraseSealedSuccessors();
    expect(await sealedOf(one.retired)).toBeUndefined();
    expect(await sealedOf(two.retired)).toBeDefined();
    expect((await refresh(service.http, client, two.retired)).json).toMatchObject({
      refresh_token: two.successor.refresh_token,
    });
    // What was erased is still known as retired.
    expectOAuthError(await refresh(service.http, client, one.retired), 400, 'invalid_grant');
    expect(await isAccepted(service.http, one.successor.access_token)).toBe(false);
  });

  it('opens with a key that was replaced since, and not without it', async () => {
    const { retired, successor } = await rotation();
    const ENCRYPTION_KEY = Buffer.alloc(32, 'n').toString('base64');
    const unrelated = Buffer.alloc(32, 'u').toString('base64');
    const without = await startInstance(service.database, {
      ENCRYPTION_KEY,
      ENCRYPTION_KEYS_PREVIOUS: unrelated,
    });
    const withPrevious = await startInstance(service.database, {
      ENCRYPTION_KEY,
      ENCRYPTION_KEYS_PREVIOUS: `${unrelated},${TEST_ENCRYPTION_KEY}`,
    });
    try {
      expectOAuthError(await refresh(without.http, client, retired), 400, 'invalid_grant');
      const again = await refresh(withPrevious.http, client, retired);
      expect(again.json).toMatchObject({
        access_token: successor.access_token,
        refresh_token: successor.refresh_token,
      });
      // What is sealed from now on, is sealed with the new key alone.
      const next = await refresh(withPrevious.http, client, successor.refresh_token);
      expectOAuthError(await refresh(service.http, client, successor.refresh_token), 400, 'invalid_grant');
      expect((await refresh(without.http, client, successor.refresh_token)).json).toMatchObject({
        refresh_token: next.json.refresh_token as string,
      });
    } finally {
      await Promise.all([without.app.close(), withPrevious.app.close()]);
    }
  });
});

import { createSecretKey, randomBytes } from 'node:crypto';
import { TokenKeysService } from '../../src/tokens/keys/token-keys.service.js';
import { writeRefreshToken } from '../../src/tokens/keys/token-record.js';
import { madeForEach, madeOnce } from '../support/made.js';
import type { Tokens } from '../support/factory.js';
import { expectOAuthError, isAccepted, refresh } from '../support/oauth.js';
import { startInstance, TEST_ENCRYPTION_KEY, useService } from '../support/test-service.js';
import { endGrace, refreshRecordOf, tokenKeysOf } from '../support/tokens.js';

const NEXT_ENCRYPTION_KEY = Buffer.alloc(32, 'n').toString('base64');

/** Refresh tokens and the keys that sign them. */
describe('A refresh token', () => {
  const service = useService();
  let second: Tokens;

  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => service.make.user());
  const first = madeForEach(() => service.make.tokens(client, user));
  beforeEach(async () => {
    second = (await use(first.refresh_token)).json as Tokens;
  });

  const use = (token: string, http = service.http) => refresh(http, client, token);
  const keys = () => service.app.get(TokenKeysService);
  const expectRefused = async (token: string) => expectOAuthError(await use(token), 400, 'invalid_grant');
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

import { PurgeService } from '../../src/database/purge/purge.service.js';
import { TokenKeysService } from '../../src/tokens/keys/token-keys.service.js';
import { madeForEach } from '../support/made.js';
import type { Tokens } from '../support/factory.js';
import { expectOAuthError, isAccepted, refresh } from '../support/oauth.js';
import { startInstance, useService } from '../support/test-service.js';
import { endGrace, refreshRecordOf } from '../support/tokens.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';

// A grant lives for a year, and is kept for 30 days after its end.
const NEEDED = '394 days 23 hours';
const NEEDED_NO_MORE = '395 days 1 hour';

/** A retired key is still needed to tell a replay of a token that it signed from a forged token. */
describe('A retired token key', () => {
  const service = useService();
  let first: Tokens;
  let second: Tokens;
  let keyId: number;

  beforeAll(async () => {
    await leaveOutScheduledPurges(service);
  });
  const client = madeForEach(() => service.make.client());
  beforeEach(async () => {
    first = await service.make.tokens(client, await service.make.user());
    ({ keyId } = await refreshRecordOf(service, first.refresh_token));
    await keys().rotate();
    second = (await refresh(service.http, client, first.refresh_token)).json as Tokens;
    await endGrace(service, first.refresh_token);
  });

  const keys = () => service.app.get(TokenKeysService);
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
    expectOAuthError(await refresh(service.http, client, first.refresh_token), 400, 'invalid_grant');
    expect(await isAccepted(service.http, first.access_token)).toBe(false);
    expect(await isLive()).toBe(true);
  });

  it('is kept until its last grant is deleted, so that a replay is detected', async () => {
    await purgeAfter(NEEDED);
    expect(await isKept()).toBe(true);
    expect(await isLive()).toBe(true);
    expectOAuthError(await refresh(service.http, client, first.refresh_token), 400, 'invalid_grant');
    expect(await isLive()).toBe(false);
  });

  it('is kept as long as the longest grant lifetime that any instance has used, whatever the setting is now', async () => {
    ({ id: keyId } = await keys().signing());
    const generous = await startInstance(service.database, { GRANT_TTL_SECONDS: String(2 * 365 * 86_400) });
    await generous.app.close();
    await keys().rotate();
    await purgeAfter(NEEDED_NO_MORE);
    expect(await isKept()).toBe(true);
    await purgeAfter('760 days 1 hour');
    expect(await isKept()).toBe(false);
  });
});

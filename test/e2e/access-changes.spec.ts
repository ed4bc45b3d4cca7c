import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { KnownClientsService } from '#access/clients/known-clients.service.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { TokenKeysService } from '#access/tokens/keys/token-keys.service.js';
import { accessTokenId } from '#access/tokens/keys/token-record.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { isAccepted, madeForEach, madeOnce, PARTNER_SCOPES, until } from '../support/spec.js';
import { whileFrozen } from '../support/listening-connections.js';
import { connectionTo } from '../support/test-database.js';
import { type TestInstance, useService } from '../support/test-service.js';
import { accessRecordOf, endingIn } from '../support/tokens.js';

const LISTENER = 'charging-data-service listener';
// Every instance must know of a revocation within this time.
const BOUND_MS = 100;

/**
 * Tests what instances cache. The tests query the database on their own connection: unlike `service.database`, it does not wait
 * until the instances have read the access changes.
 */
describe('An instance that has cached a token', () => {
  const service = useService({ instances: 2 });
  const here = service;
  const there = madeOnce(() => service.instances[1]!);
  let token: string;

  const connection = madeOnce(() => connectionTo(service));

  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => service.make.user());
  beforeEach(async () => {
    token = (await service.make.tokens(client, user)).access_token;
    await ensureCached(there);
  });

  const outside = async <T>(sql: string, params: unknown[] = []) =>
    (await connection.query(sql, params)).rows as T[];
  const read = async (at: TestInstance) => (await at.http.get('/v2/users', { bearer: token })).status;

  /** Makes sure that the instance serves the token without querying the database. */
  async function ensureCached(at: TestInstance): Promise<void> {
    expect(await read(at)).toBe(200);
    await until('its connection is proven', () => at.app.get(AccessChanges).isTrusted);
    expect(await read(at)).toBe(200);
  }

  it('looks the token up itself, independently of another instance in its process', async () => {
    const finds = [here, there].map(({ app }) => jest.spyOn(app.get(AccessTokensService), 'find'));
    expect(await read(here)).toBe(200);
    const [byHere, byThere] = finds.map(({ mock }) => mock.calls.flat());
    // More than once if the request had to wait: then it is judged again before its answer.
    expect([new Set(byHere), byThere]).toEqual([new Set([token]), []]);
  });

  it('answers without looking the token up again', async () => {
    await outside('ALTER TABLE revoked_access_tokens RENAME TO hidden_tokens');
    try {
      // Without the table, only the cache can answer.
      await until('its memory is trusted, and answers', async () => (await read(there)) === 200);
    } finally {
      await outside('ALTER TABLE hidden_tokens RENAME TO revoked_access_tokens');
    }
  });

  const revokeByHand = async () =>
    outside("INSERT INTO revoked_access_tokens (id, expires_at) VALUES ($1, now() + interval '1 hour')", [
      accessTokenId(await accessRecordOf(service, token)),
    ]);
  const CHANGES: [what: string, change: () => Promise<unknown>][] = [
    [
      'the token is revoked',
      () =>
        here.http.send('/o/revoke_token/', {
          form: { client_id: client.id, client_secret: client.secret, token },
        }),
    ],
    ['the consent is withdrawn', () => service.make.revokeConsent(client, user)],
    ['the client is disabled', () => service.make.updateClient(client, { enabled: false })],
    ['the client is deleted', () => service.make.deleteClient(client)],
    ['all tokens of the client are revoked', () => service.make.revokeTokens(client)],
    ['the user is disabled', () => service.make.setEnabled(user, false)],
    ['the user is erased', () => service.make.eraseUser(user)],
    ['the token is revoked directly in the database', revokeByHand],
    [
      'the key that signed it is revoked',
      async () => here.app.get(TokenKeysService).revoke((await accessRecordOf(service, token)).keyId),
    ],
    [
      'its grant is changed directly in the database',
      () => outside('UPDATE grants SET revoked_at = now() WHERE user_id = $1', [user.id]),
    ],
    [
      'its user is deleted directly in the database',
      () => outside('DELETE FROM users WHERE id = $1', [user.id]),
    ],
    ['all grants are deleted directly in the database', () => outside('TRUNCATE grants CASCADE')],
  ];

  it.each(CHANGES)('refuses it, like every other instance, 100 ms after %s', async (_what, change) => {
    await ensureCached(here);
    await change();
    await pause(BOUND_MS);
    expect([await read(here), await read(there)]).toEqual([401, 401]);
  });

  it('refuses the token immediately on the instance that made the revocation', async () => {
    await ensureCached(here);
    await service.make.revokeConsent(client, user);
    expect(await read(here)).toBe(401);
  });

  /** The connections on which both instances listen, once each has one: while it connects, an instance has a second one. */
  const listeners = async (): Promise<{ pid: number }[]> => {
    let found: { pid: number }[] = [];
    await until('both listen', async () => {
      found = await outside<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
        [LISTENER],
      );
      return found.length === 2 && [here, there].every(({ app }) => app.get(AccessChanges).isTrusted);
    });
    return found;
  };

  it('refuses the token while its listening connection is cut, and caches again after reconnecting', async () => {
    const cut = (await listeners()).map(({ pid }) => pid);
    for (const pid of cut) await outside('SELECT pg_terminate_backend($1)', [pid]);
    await revokeByHand();
    await pause(BOUND_MS);
    expect(await read(there)).toBe(401);
    await until('both listen again', async () => (await listeners()).every(({ pid }) => !cut.includes(pid)));
    token = (await service.make.tokens(client, user)).access_token;
    await ensureCached(there);
    await revokeByHand();
    await pause(BOUND_MS);
    expect(await read(there)).toBe(401);
  });

  it('refuses the token if the change was purged before it listens again', async () => {
    const cut = (await listeners()).map(({ pid }) => pid);
    for (const pid of cut) await outside('SELECT pg_terminate_backend($1)', [pid]);
    await outside('UPDATE clients SET enabled = false WHERE id = $1', [client.id]);
    // As the purge does it when all tokens of before have expired; the client is kept in memory for longer.
    await outside('DELETE FROM access_changes');
    await until('both listen again', async () => (await listeners()).every(({ pid }) => !cut.includes(pid)));
    expect(await read(there)).toBe(401);
  });

  it('refuses the token when its listening connection has fallen silent', async () => {
    await listeners();
    await whileFrozen(service.database.url, 2, async () => {
      await revokeByHand();
      await pause(BOUND_MS);
      expect(await read(there)).toBe(401);
      // The silence does not delay a change either.
      await service.make.revokeConsent(client, user);
    });
    await until('it listens again', () => there.app.get(AccessChanges).isTrusted);
  });

  it('accepts a token that was issued after a change that it has not read yet', async () => {
    const owner = here.app.get(UsersService);
    await listeners();
    const issued: string[] = [];
    const issue = async () => {
      const tokens = await here.app.get(AccessTokensService).issueForClient(client.id, PARTNER_SCOPES);
      issued.push(tokens!.accessToken);
    };
    await owner.update(client.ownerId, { enabled: false }, SERVICE_ACTOR);
    // This instance has cached the client with its disabled owner, and receives no more notifications.
    await there.app.get(KnownClientsService).find(client.id);
    const trust = jest.spyOn(there.app.get(AccessChanges), 'isTrusted', 'get').mockReturnValue(true);
    try {
      await whileFrozen(service.database.url, 2, async () => {
        await owner.update(client.ownerId, { enabled: true }, SERVICE_ACTOR);
        await issue();
        await service.make.revokeTokens(client);
        await issue();
        const [before, after] = issued as [string, string];
        expect([await isAccepted(there.http, before), await isAccepted(there.http, after)]).toEqual([
          false,
          true,
        ]);
        expect(
          await there.app.get(AccessTokensService).issueForClient(client.id, PARTNER_SCOPES),
        ).toBeDefined();
      });
    } finally {
      trust.mockRestore();
    }
    await until('it listens again', () => there.app.get(AccessChanges).isTrusted);
  });

  it('refuses a secret that was replaced without a grace time, and accepts the new one', async () => {
    const { http } = there;
    const ask = (secret: string) =>
      http
        .token({ grant_type: 'client_credentials' }, { id: client.id, secret })
        .then(({ status }) => status);
    expect(await ask(client.secret)).toBe(200);
    const { secret } = await service.make.rotateSecret(client);
    await pause(BOUND_MS);
    expect([await ask(client.secret), await ask(secret)]).toEqual([401, 200]);
  });

  it('accepts a new secret, and a client that was enabled again, before it has read that change', async () => {
    const ask = (secret: string, { id } = client) =>
      there.http.token({ grant_type: 'client_credentials' }, { id, secret }).then(({ status }) => status);
    const clients = here.app.get(ClientsService);
    const disabled = await service.make.client();
    await clients.update(disabled.id, { enabled: false }, SERVICE_ACTOR);
    for (const { id } of [client, disabled]) await there.app.get(KnownClientsService).find(id);
    let breakOff = (_error: Error) => {};
    const silence = new Promise<never>((_resolve, reject) => (breakOff = reject));
    // Nobody may have waited for it.
    silence.catch(() => undefined);
    const listening = jest.spyOn(there.app.get(Listener), 'query').mockReturnValue(silence);
    const trust = jest.spyOn(there.app.get(AccessChanges), 'isTrusted', 'get').mockReturnValue(true);
    try {
      const { secret } = await service.make.rotateSecret(client, 3600);
      expect(await ask(secret)).toBe(200);
      expect(await ask('wrong')).toBe(401);
      await clients.update(disabled.id, { enabled: true }, SERVICE_ACTOR);
      expect(await ask(disabled.secret, disabled)).toBe(200);
    } finally {
      trust.mockRestore();
      listening.mockRestore();
      breakOff(new Error('cut'));
    }
    await until('it listens again', () => there.app.get(AccessChanges).isTrusted);
  });

  it('refuses the token once it has expired', async () => {
    token = await endingIn(service, token, 1);
    const { expiresAt } = await accessRecordOf(service, token);
    await until('it has expired', async () => (await read(there)) === 401);
    const [row] = await outside('SELECT to_timestamp($1::float8 / 1000) <= clock_timestamp() AS over', [
      expiresAt,
    ]);
    expect(row).toEqual({ over: true });
    // This needs no query to the database either.
    await outside('ALTER TABLE revoked_access_tokens RENAME TO hidden_tokens');
    try {
      await until('its memory is trusted, and answers', async () => (await read(there)) === 401);
    } finally {
      await outside('ALTER TABLE hidden_tokens RENAME TO revoked_access_tokens');
    }
  });

  it('refuses the token once it has expired, even if the cached answer came from the database', async () => {
    // After an access change for the token, the instance asks the database whether it is live, and caches the answer until it
    // expires.
    const id = accessTokenId(await accessRecordOf(service, token));
    await service.database.query('INSERT INTO access_changes (ids) VALUES ($1)', [[id]]);
    await ensureCached(there);
    token = await endingIn(service, token, -1);
    expect(await read(there)).toBe(401);
  });
});

import { type Answer, type HttpOptions, madeOnce, type Tokens, useSharedService } from '../support/spec.js';
import { credentialsOf, exchange, expectOAuthError, isAccepted, refresh, revoke } from '../support/oauth.js';
import { strangeToken } from '../support/tokens.js';

const service = useSharedService();

const client = madeOnce(() => service.make.client());
const other = madeOnce(() => service.make.client());
const app = madeOnce(() => service.make.client({ type: 'public' }));
const user = madeOnce(() => service.make.user());

/** RFC 7009 §2.2: the answer is 200, and clients need not read it; those that do find JSON. */
function expectDone(answer: Answer): void {
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: '{}' });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

const post = (options: HttpOptions) => service.http.send('/o/revoke_token/', options);
const works = (token: string) => isAccepted(service.http, token);

describe('A revocation is refused', () => {
  it('without a token', async () => {
    expectOAuthError(await post({ form: credentialsOf(client) }), 400, 'invalid_request');
    expectOAuthError(await revoke(service.http, client, ''), 400, 'invalid_request');
  });

  it('with a repeated token, in the query string, or in JSON', async () => {
    const { access_token } = await service.make.tokens(client, user);
    const basic = client;
    const pair: [string, string] = ['token', access_token];
    const twice = await post({ basic, form: [pair, pair] });
    const inQuery = await service.http.send(`/o/revoke_token/?token=${access_token}`, { basic, form: {} });
    const beside = await service.http.send('/o/revoke_token/?x=1', { basic, form: [pair] });
    const json = await post({ basic, json: { token: access_token } });
    const none = await post({ method: 'POST', basic });
    for (const answer of [twice, inQuery, beside, json, none])
      expectOAuthError(answer, 400, 'invalid_request');
    expect(await works(access_token)).toBe(true);
  });

  it('to a client that does not authenticate', async () => {
    const { access_token } = await service.make.tokens(client, user);
    for (const client_secret of [undefined, 'wrong']) {
      const answer = await revoke(service.http, client, access_token, { client_secret });
      expectOAuthError(answer, 401, 'invalid_client');
    }
    expectOAuthError(await post({ form: { token: access_token } }), 401, 'invalid_client');
    expect(await works(access_token)).toBe(true);
  });

  it('without the trailing slash with a 405 problem that says so', async () => {
    const { access_token } = await service.make.tokens(client, user);
    for (const path of ['/o/revoke_token', '/o/revoke_token?x=1']) {
      const form = { ...credentialsOf(client), token: access_token };
      const answer = await service.http.send(path, { form });
      expect([answer.status, answer.headers.has('allow')]).toEqual([405, true]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(answer.json).toMatchObject({
        type: `${service.settings.baseUrl}/v2/problems/method-not-allowed/`,
        detail: expect.stringMatching(
          /trailing slash.*\/o\/revoke_token\/|\/o\/revoke_token\/.*trailing slash/,
        ) as string,
      });
    }
    expect(await works(access_token)).toBe(true);
  });

  it.each([
    ['without a body', undefined, undefined],
    ['with a wrong secret', `client_id=x&client_secret=y&token=z`, 'application/x-www-form-urlencoded'],
    ['with JSON', '{}', 'application/json'],
    ['with text', 'x', 'text/plain'],
  ])('without the trailing slash, whatever else is wrong: %s', async (_what, body, type) => {
    const headers: Record<string, string> = type ? { 'content-type': type } : {};
    const answer = await service.http.send('/o/revoke_token', { method: 'POST', body, headers });
    expect(answer.status).toBe(405);
    expect(answer.json.detail).toContain('slash');
  });

  it.each(['GET', 'PUT', 'DELETE'])('by %s with a 405', async (method) => {
    const answer = await post({ method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect((await service.http.send('/o/revoke_token', { method })).status).toBe(405);
  });
});

describe('A revocation changes nothing, without saying so,', () => {
  it.each(['x', 'garbage with spaces ☀', 'cds_at_', strangeToken('access'), strangeToken('refresh')])(
    'for an unknown token: %s',
    async (token) => {
      expectDone(await revoke(service.http, client, token));
      expectDone(await revoke(service.http, app, token));
    },
  );

  it("for another client's tokens", async () => {
    const [users, own] = [await service.make.tokens(client, user), await service.make.clientToken(client)];
    for (const thief of [other, app]) {
      for (const token of [users.access_token, users.refresh_token, own])
        expectDone(await revoke(service.http, thief, token));
    }
    expect(await works(users.access_token)).toBe(true);
    expect(await works(own)).toBe(true);
    expect((await refresh(service.http, client, users.refresh_token)).status).toBe(200);
  });

  it('for an authorization code', async () => {
    const code = await service.make.code(client, user);
    expectDone(await revoke(service.http, client, code));
    expect((await exchange(service.http, client, code)).status).toBe(200);
  });
});

describe('A revoked access token', () => {
  it('ends alone, immediately and permanently', async () => {
    const tokens = await service.make.tokens(client, user);
    expectDone(await revoke(service.http, client, tokens.access_token));
    expect(await works(tokens.access_token)).toBe(false);
    expectDone(await revoke(service.http, client, tokens.access_token));
    const next = await refresh(service.http, client, tokens.refresh_token);
    expect(next.status).toBe(200);
    expect(await works(next.json.access_token as string)).toBe(true);
    expect(await works(tokens.access_token)).toBe(false);
  });

  it("may be a client-credentials token, and leaves the client's other tokens valid", async () => {
    const [one, two] = [await service.make.clientToken(client), await service.make.clientToken(client)];
    expectDone(await revoke(service.http, client, one));
    expect([await works(one), await works(two)]).toEqual([false, true]);
  });
});

describe('A revoked refresh token', () => {
  it.each(['confidential', 'public'] as const)('revokes its whole grant (%s client)', async (type) => {
    const of = type === 'public' ? app : client;
    const bystander = await service.make.tokens(of, user);
    const first = await service.make.tokens(of, user);
    const second = (await refresh(service.http, of, first.refresh_token)).json as Tokens;
    expectDone(await revoke(service.http, of, second.refresh_token));
    for (const { access_token, refresh_token } of [first, second]) {
      expect(await works(access_token)).toBe(false);
      expectOAuthError(await refresh(service.http, of, refresh_token), 400, 'invalid_grant');
    }
    expectDone(await revoke(service.http, of, second.refresh_token));
    expect(await works(bystander.access_token)).toBe(true);
  });

  it('may be a retired one', async () => {
    const first = await service.make.tokens(client, user);
    const second = (await refresh(service.http, client, first.refresh_token)).json as Tokens;
    expectDone(await revoke(service.http, client, first.refresh_token));
    expect(await works(second.access_token)).toBe(false);
  });

  it('does not end the consent', async () => {
    const someone = await service.make.user();
    const { refresh_token } = await service.make.tokens(client, someone);
    expectDone(await revoke(service.http, client, refresh_token));
    const live = 'SELECT 1 FROM consents WHERE user_id = $1 AND revoked_at IS NULL';
    expect(await service.database.query(live, [someone.id])).toHaveLength(1);
  });

  it('is recorded as an audit event of the client', async () => {
    const someone = await service.make.user();
    const { refresh_token } = await service.make.tokens(client, someone);
    for (let n = 0; n < 2; n++) await revoke(service.http, client, refresh_token);
    const events = await service.database.query(
      `SELECT actor_type, actor_id, after->>'reason' AS reason FROM audit_events
        WHERE action = 'grant.revoked' AND after->>'user_id' = $1`,
      [someone.id],
    );
    expect(events).toEqual([{ actor_type: 'client', actor_id: client.id, reason: 'token_revoked' }]);
  });
});

describe('token_type_hint', () => {
  it.each(['access_token', 'refresh_token', 'nonsense', ''])(
    'is accepted, right or wrong: %s',
    async (hint) => {
      const tokens = await service.make.tokens(client, user);
      expectDone(await revoke(service.http, client, tokens.access_token, { token_type_hint: hint }));
      expect(await works(tokens.access_token)).toBe(false);
      expectDone(await revoke(service.http, client, tokens.refresh_token, { token_type_hint: hint }));
      expectOAuthError(await refresh(service.http, client, tokens.refresh_token), 400, 'invalid_grant');
    },
  );
});

describe('The client at the revocation endpoint', () => {
  it('may authenticate by Basic', async () => {
    const token = await service.make.clientToken(client);
    expectDone(await post({ basic: client, form: { token } }));
    expect(await works(token)).toBe(false);
  });
});

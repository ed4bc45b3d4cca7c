import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { DAY_MS } from '#platform/config/durations.js';
import { newSecret } from '#platform/secrets/tokens.js';
import { type Answer, type HttpOptions, madeOnce, until, useSharedService } from '../support/spec.js';
import { credentialsOf, expectOAuthError, refresh, revoke } from '../support/oauth.js';
import { endingIn, strangeToken } from '../support/tokens.js';

const BOTH = 'charging_session:read vehicle:read';

const service = useSharedService();

const inspector = madeOnce(() => service.make.operatorClient(['token:introspect']));
const client = madeOnce(() => service.make.client());
const user = madeOnce(() => service.make.user());

const basic = () => ({ id: inspector.id, secret: inspector.secret });
/** Asks in any way. */
const ask = (options: HttpOptions) => service.http.send('/o/introspect/', options);
const introspect = (token: string | undefined, fields: Record<string, string> = {}) =>
  ask({ basic: basic(), form: { token, ...fields } });

/** Gives the user's consents another end; returns it, in seconds since 1970. */
const endConsentIn = (hours: number, userId: string) =>
  service.database.value<number>(
    `UPDATE consents SET expires_at = now() + make_interval(hours => $1) WHERE user_id = $2
     RETURNING floor(extract(epoch FROM expires_at))::float8 AS seconds`,
    [hours, userId],
  );

function expectInactive(answer: Answer): void {
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: '{"active":false}' });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

describe('Introspection is refused', () => {
  it('without a token', async () => {
    expectOAuthError(await introspect(undefined), 400, 'invalid_request');
    expectOAuthError(await introspect(''), 400, 'invalid_request');
  });

  it('with parameters in the query string or repeated, in JSON, or without a body', async () => {
    const token = await service.make.clientToken(client);
    const options = [
      { path: `/o/introspect/?token=${token}`, form: {} },
      { path: `/o/introspect?user_id=${user.id}`, form: { token } },
      { path: '/o/introspect/', json: { token } },
      { path: '/o/introspect/', method: 'POST' },
      {
        path: '/o/introspect/',
        form: [
          ['token', token],
          ['token', token],
        ] as [string, string][],
      },
    ];
    for (const { path, ...option } of options)
      expectOAuthError(await service.http.send(path, { basic: basic(), ...option }), 400, 'invalid_request');
  });

  it('to a client without token:introspect, whichever way it authenticates', async () => {
    const token = await service.make.clientToken(client);
    const { id, secret } = client;
    const operator = await service.make.operatorClient(['admin:read', 'admin:write', 'event:publish']);
    const answers = [
      await ask({ basic: { id, secret }, form: { token } }),
      await ask({ form: { token, ...credentialsOf(client) } }),
      await ask({ bearer: token, form: { token } }),
      await ask({ form: { token, ...credentialsOf(operator) } }),
    ];
    for (const answer of answers) expectOAuthError(answer, 403, 'insufficient_scope');
  });

  it('with a Bearer challenge to a bearer token only, not to a client that authenticated by Basic or in the body', async () => {
    const token = await service.make.clientToken(client);
    const { id, secret } = client;
    const challengeOf = async (options: HttpOptions) => (await ask(options)).headers.get('www-authenticate');
    expect(await challengeOf({ basic: { id, secret }, form: { token } })).toBeNull();
    expect(await challengeOf({ form: { token, ...credentialsOf(client) } })).toBeNull();
    expect(await challengeOf({ bearer: token, form: { token } })).toMatch(
      /^Bearer .*error="insufficient_scope", scope="token:introspect"$/,
    );
  });

  it("to a user's token", async () => {
    const { access_token } = await service.make.tokens(client, user);
    const answer = await ask({ bearer: access_token, form: { token: access_token } });
    expectOAuthError(answer, 403, 'insufficient_scope');
  });

  it('to a token of an authorized client that was requested without the scope', async () => {
    const operator = await service.make.operatorClient(['admin:read', 'token:introspect']);
    const token = await service.make.clientToken(operator, 'admin:read');
    expectOAuthError(await ask({ bearer: token, form: { token } }), 403, 'insufficient_scope');
  });

  it('to a bearer token that is unknown, expired, revoked or of a disabled client', async () => {
    const operator = await service.make.operatorClient(['token:introspect']);
    const [expired, revoked, live] = [
      await endingIn(service, await service.make.clientToken(operator), -1),
      await service.make.clientToken(operator),
      await service.make.clientToken(operator),
    ];
    await revoke(service.http, operator, revoked);
    expect((await ask({ bearer: live, form: { token: live } })).json).toMatchObject({ active: true });
    await service.make.updateClient(operator, { enabled: false });
    for (const bearer of ['x', strangeToken('access'), expired, revoked, live]) {
      const answer = await ask({ bearer, form: { token: 'x' } });
      expectOAuthError(answer, 401, 'invalid_token');
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
    }
  });
});

describe('The answer is exactly {"active": false} for', () => {
  it.each(['x', 'garbage ☀', strangeToken('access'), strangeToken('refresh'), newSecret('session')])(
    'an unknown token: %s',
    async (token) => expectInactive(await introspect(token)),
  );

  it('refresh tokens, live or retired, whatever the hint', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    expectInactive(await introspect(refresh_token));
    expectInactive(await introspect(refresh_token, { token_type_hint: 'refresh_token' }));
    await refresh(service.http, client, refresh_token);
    expectInactive(await introspect(refresh_token));
  });

  it('an authorization code, a client secret and a client id', async () => {
    for (const token of [await service.make.code(client, user), client.secret, client.id])
      expectInactive(await introspect(token));
  });

  it('an expired token', async () => {
    const { access_token } = await service.make.tokens(client, user);
    const expired = await endingIn(service, access_token, -1);
    expectInactive(await introspect(expired));
    expectInactive(await introspect(expired, { user_id: user.id }));
  });

  it('a revoked token, and a token of a revoked grant', async () => {
    const [one, two] = [await service.make.tokens(client, user), await service.make.tokens(client, user)];
    await revoke(service.http, client, one.access_token);
    await revoke(service.http, client, two.refresh_token);
    for (const { access_token } of [one, two]) expectInactive(await introspect(access_token));
  });

  it('a token whose consent was withdrawn', async () => {
    const someone = await service.make.user();
    const { access_token } = await service.make.tokens(client, someone);
    await service.make.revokeConsent(client, someone);
    expectInactive(await introspect(access_token));
  });
});

describe('For a live access token', () => {
  /** Tokens live by the database's clock. */
  const now = async () => {
    return service.database.value<number>(
      'SELECT floor(extract(epoch FROM clock_timestamp()))::int AS seconds',
    );
  };

  it.each(['/o/introspect/', '/o/introspect'])(
    'of a user, %s returns exactly the members of the contract',
    async (path) => {
      const before = await now();
      const { access_token } = await service.make.tokens(client, user);
      const after = await now();
      const answer = await service.http.send(path, { basic: basic(), form: { token: access_token } });
      expect(answer.json).toEqual({
        active: true,
        scope: BOTH,
        client_id: client.id,
        sub: user.id,
        grant_type: 'authorization_code',
        token_type: 'Bearer',
        exp: expect.any(Number) as number,
        iat: expect.any(Number) as number,
        authorization_expires_in: expect.any(Number) as number,
        iss: service.settings.baseUrl,
      });
      expect(answer.json.exp - answer.json.iat).toBe(36000);
      expect([before <= answer.json.iat, answer.json.iat <= after]).toEqual([true, true]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('pragma')).toBe('no-cache');
    },
  );

  it('of a user, the end of the grant is told by the clock of the database, whatever its own says', async () => {
    const { access_token } = await service.make.tokens(client, user);
    const left = async () => (await introspect(access_token)).json.authorization_expires_in as number;
    const before = await left();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 30 * DAY_MS);
    const after = await left().finally(() => clock.mockRestore());
    expect([after <= before, after > before - 3600]).toEqual([true, true]);
  });

  it('of a user, exp is no later than the end of the consent, which may have been brought forward', async () => {
    const someone = await service.make.user();
    const { access_token } = await service.make.tokens(client, someone);
    const expOf = async () => (await introspect(access_token)).json.exp as number;
    const ofToken = await expOf();
    for (const hours of [1, 100]) {
      const end = await endConsentIn(hours, someone.id);
      // What is changed by hand is known within 100 ms.
      await until('exp says so', async () => (await expOf()) === Math.min(end, ofToken));
    }
  });

  it('of client credentials, the subject is the client', async () => {
    const answer = await introspect(await service.make.clientToken(client, 'vehicle:read'));
    expect(answer.json).toMatchObject({
      active: true,
      scope: 'vehicle:read',
      client_id: client.id,
      sub: client.id,
      grant_type: 'client_credentials',
    });
  });

  it('of a refresh, the grant type is that of the authorization', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    const { json } = await refresh(service.http, client, refresh_token, { scope: 'vehicle:read' });
    const answer = await introspect(json.access_token as string);
    expect(answer.json).toMatchObject({
      grant_type: 'authorization_code',
      scope: 'vehicle:read',
      sub: user.id,
    });
  });

  it("introspection also accepts the caller's own bearer token, and credentials in the body", async () => {
    const { access_token } = await service.make.tokens(client, user);
    const bearer = await service.make.clientToken(inspector);
    const byBearer = await ask({ bearer, form: { token: access_token } });
    const inBody = await ask({ form: { token: access_token, ...credentialsOf(inspector) } });
    expect(byBearer.json).toMatchObject({ active: true, sub: user.id });
    // The second may change between the two.
    expect(inBody.json).toEqual({ ...byBearer.json, authorization_expires_in: expect.any(Number) as number });
    const itself = await ask({ bearer, form: { token: bearer } });
    expect(itself.json).toMatchObject({ active: true, scope: 'token:introspect', sub: inspector.id });
  });

  it('any token_type_hint is accepted', async () => {
    const token = await service.make.clientToken(client);
    for (const token_type_hint of ['access_token', 'refresh_token', 'nonsense'])
      expect((await introspect(token, { token_type_hint })).json).toMatchObject({ active: true });
  });
});

describe('With user_id, the scope is what the token may do with that user’s data:', () => {
  const scopeFor = async (token: string, user_id: string) => {
    const answer = await introspect(token, { user_id });
    expect(answer.json).toMatchObject({ active: true });
    return answer.json.scope as unknown;
  };

  it("for client credentials, what the user consented to within the token's scopes", async () => {
    const [all, some, none, former] = await Promise.all([1, 2, 3, 4].map(() => service.make.user()));
    await service.make.consent(client, all!);
    await service.make.consent(client, some!, ['vehicle:read']);
    await service.make.consent(client, former!);
    await service.make.revokeConsent(client, former!);
    const token = await service.make.clientToken(client);
    expect(await scopeFor(token, all!.id)).toBe(BOTH);
    expect(await scopeFor(token, some!.id)).toBe('vehicle:read');
    expect(await scopeFor(token, none!.id)).toBe('');
    expect(await scopeFor(token, former!.id)).toBe('');
    const narrow = await service.make.clientToken(client, 'charging_session:read');
    expect(await scopeFor(narrow, all!.id)).toBe('charging_session:read');
    expect(await scopeFor(narrow, some!.id)).toBe('');
  });

  it('nothing if the consent is to another client', async () => {
    const [other, someone] = [await service.make.client(), await service.make.user()];
    await service.make.consent(other, someone);
    expect(await scopeFor(await service.make.clientToken(client), someone.id)).toBe('');
  });

  it("for a user’s token, the token's scopes for its own user and nothing for other users", async () => {
    const [someone, other] = [await service.make.user(), await service.make.user()];
    await service.make.consent(client, other);
    const { access_token } = await service.make.tokens(client, someone, 'vehicle:read');
    expect(await scopeFor(access_token, someone.id)).toBe('vehicle:read');
    expect(await scopeFor(access_token, other.id)).toBe('');
  });

  it('for client credentials until the consent ends, which exp says, but no longer than the token', async () => {
    const someone = await service.make.user();
    await service.make.consent(client, someone);
    const token = await service.make.clientToken(client);
    const expOf = async (fields = {}) => (await introspect(token, fields)).json.exp as number;
    const ofToken = await expOf();
    expect(await expOf({ user_id: someone.id })).toBe(ofToken);
    for (const hours of [1, 100]) {
      const end = await endConsentIn(hours, someone.id);
      expect(await expOf({ user_id: someone.id })).toBe(Math.min(end, ofToken));
    }
  });

  it('nothing while the user is disabled, and the same as before afterwards', async () => {
    const someone = await service.make.user();
    await service.make.consent(client, someone);
    const token = await service.make.clientToken(client);
    await service.make.setEnabled(someone, false);
    expect(await scopeFor(token, someone.id)).toBe('');
    await service.make.setEnabled(someone, true);
    expect(await scopeFor(token, someone.id)).toBe(BOTH);
  });

  it('nothing for an unknown user', async () => {
    const token = await service.make.clientToken(client);
    expect(await scopeFor(token, 'user01HN2NJ9NMRZBXT1H6FT9N7735')).toBe('');
  });

  it.each(['nobody', 'clnt01HN2NJ9NMRZBXT1H6FT9N7735', "' OR 1=1 --", '%', 'x'.repeat(1000)])(
    'invalid_request for a malformed user id, whatever the token: %s',
    async (user_id) => {
      for (const token of [await service.make.clientToken(client), 'garbage'])
        expectOAuthError(await introspect(token, { user_id }), 400, 'invalid_request');
    },
  );

  it('the new scopes immediately after the consent changes', async () => {
    const someone = await service.make.user();
    const token = await service.make.clientToken(client);
    expect(await scopeFor(token, someone.id)).toBe('');
    await service.make.consent(client, someone);
    expect(await scopeFor(token, someone.id)).toBe(BOTH);
    await service.make.consent(client, someone, ['vehicle:read']);
    expect(await scopeFor(token, someone.id)).toBe('vehicle:read');
    await service.make.revokeConsent(client, someone);
    expect(await scopeFor(token, someone.id)).toBe('');
  });
});

describe('Introspection as a signed JWT (RFC 9701)', () => {
  const SIGNED = 'application/token-introspection+jwt';
  const signed = (token: string, accept = SIGNED) =>
    ask({ basic: basic(), headers: { accept }, form: { token } });

  it('is not given to who does not ask for it by name, nor for what is refused', async () => {
    const token = await service.make.clientToken(client);
    for (const accept of ['*/*', 'application/json', 'application/*', `${SIGNED};q=0`, 'application/jwt']) {
      const answer = await signed(token, accept);
      expect([accept, answer.json]).toEqual([accept, expect.objectContaining({ active: true })]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
    }
    const { headers } = await ask({ headers: { accept: SIGNED }, form: { token } });
    expect(headers.get('content-type')).toMatch(/^application\/json(;|$)/);
  });

  it('is verified with the keys that the metadata name, and says the same as JSON', async () => {
    const { json: metadata } = await service.http.get('/.well-known/oauth-authorization-server');
    expect(metadata.introspection_signing_alg_values_supported).toEqual(['EdDSA']);
    const { pathname } = new URL(metadata.jwks_uri as string);
    const keys = createRemoteJWKSet(new URL(pathname, service.http.url));
    const token = await service.make.clientToken(client);
    for (const each of [token, strangeToken('access')]) {
      const answer = await signed(each, `application/json;q=0.1, ${SIGNED.toUpperCase()}`);
      expect(answer.headers.get('content-type')).toMatch(/^application\/token-introspection\+jwt(;|$)/);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const { payload } = await jwtVerify(answer.text, keys, {
        ...{ issuer: service.settings.baseUrl, audience: inspector.id, typ: 'token-introspection+jwt' },
        ...{ algorithms: ['EdDSA'], requiredClaims: ['iat'] },
      });
      expect(payload.token_introspection).toEqual((await introspect(each)).json);
      expect(Object.keys(payload).sort()).toEqual(['aud', 'iat', 'iss', 'token_introspection']);
      const keyIds = (await service.http.get(pathname)).json.keys as { kid: string }[];
      expect(keyIds.map(({ kid }) => kid)).toContain(decodeProtectedHeader(answer.text).kid);
    }
  });
});

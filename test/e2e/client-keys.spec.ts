import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { assertionOf, byAssertion, clientWithKeys, newKey, type ClientKey } from '../support/client-keys.js';
import { setUpConsole } from '../support/console.js';
import { PARTNER_SCOPES, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { madeOnce } from '../support/made.js';
import { isAccepted, refresh } from '../support/oauth.js';
import { enterPortal } from '../support/portal.js';
import { useSharedService } from '../support/test-service.js';

const service = useSharedService();
const { submit, followed } = setUpConsole(service);

const keys = madeOnce(async () => ({ es: await newKey(), rsa: await newKey('PS256') }));
const jwks = (...given: { publicJwk: unknown }[]) => ({ keys: given.map(({ publicJwk }) => publicJwk) });
const token = madeOnce(async () => ({ is: await service.make.adminToken() }));
const owner = madeOnce(() => service.make.user({ kind: 'organisation' }));

const create = (more: object) =>
  service.http.send('/admin/clients', {
    bearer: token.is,
    json: {
      ...{ name: 'Northwind', type: 'confidential', grant_types: ['client_credentials'], redirect_uris: [] },
      ...{ scopes: PARTNER_SCOPES, owner_id: owner.id },
      ...more,
    },
  });
const change = ({ id }: { id: string }, json: object) =>
  service.http.send(`/admin/clients/${id}`, { method: 'PATCH', bearer: token.is, json });
const withSecret = async (id: string, secret: string) =>
  (await service.http.token({ grant_type: 'client_credentials' }, { id, secret })).status;
const withKey = async (id: string, key: ClientKey) => {
  const form = byAssertion(await assertionOf(key, id, service.url));
  return (await service.http.token({ grant_type: 'client_credentials', ...form })).status;
};
const KEYS = { token_endpoint_auth_method: 'private_key_jwt' };
const PROFILE = {
  security_profile: 'fapi_2',
  require_pkce: true,
  require_pushed_authorization_requests: true,
  dpop_bound_access_tokens: true,
};
const profiled = (more: object) => ({ ...KEYS, ...PROFILE, jwks: jwks(keys.es), ...more });

describe('A client with keys is refused', () => {
  const rsa1024 = {
    kty: 'RSA',
    e: 'AQAB',
    n: Buffer.from(`c3${'5a'.repeat(127)}`, 'hex').toString('base64url'),
  };

  it.each<[what: string, member: string, body: () => object]>([
    ['without keys', 'jwks', () => KEYS],
    [
      'as a public client',
      'token_endpoint_auth_method',
      () => ({
        ...{ ...KEYS, jwks: jwks(keys.es), type: 'public', grant_types: ['authorization_code'] },
        redirect_uris: [REDIRECT_URI],
      }),
    ],
    ['without authentication', 'token_endpoint_auth_method', () => ({ token_endpoint_auth_method: 'none' })],
    [
      'with keys and an address',
      'jwks_uri',
      () => ({ ...KEYS, jwks: jwks(keys.es), jwks_uri: 'https://a.example/' }),
    ],
    ['with no key', 'jwks', () => ({ ...KEYS, jwks: { keys: [] } })],
    ['with a list', 'jwks', () => ({ ...KEYS, jwks: [keys.es.publicJwk] })],
    [
      'with 11 keys',
      'jwks',
      () => ({
        ...KEYS,
        jwks: { keys: Array.from({ length: 11 }, (_, n) => ({ ...keys.es.publicJwk, kid: `${n}` })) },
      }),
    ],
    ['with a private key', 'jwks', () => ({ ...KEYS, jwks: { keys: [keys.es.privateJwk] } })],
    ['with a key twice under one name', 'jwks', () => ({ ...KEYS, jwks: jwks(keys.es, keys.es) })],
    ['with a short RSA key', 'jwks', () => ({ ...KEYS, jwks: { keys: [rsa1024] } })],
    ['with a secret as a key', 'jwks', () => ({ ...KEYS, jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } })],
    [
      'with a key to encrypt',
      'jwks',
      () => ({ ...KEYS, jwks: { keys: [{ ...keys.es.publicJwk, use: 'enc' }] } }),
    ],
    [
      'with a key for another algorithm',
      'jwks',
      () => ({ ...KEYS, jwks: { keys: [{ ...keys.rsa.publicJwk, alg: 'RS256' }] } }),
    ],
    [
      'with a point that is not on the curve',
      'jwks',
      () => ({ ...KEYS, jwks: { keys: [{ ...keys.es.publicJwk, x: keys.es.publicJwk.y }] } }),
    ],
    ['with an address that is not https', 'jwks_uri', () => ({ ...KEYS, jwks_uri: 'http://keys.example/' })],
    ['with an internal address', 'jwks_uri', () => ({ ...KEYS, jwks_uri: 'https://10.1.2.3/keys' })],
    ['with an internal name', 'jwks_uri', () => ({ ...KEYS, jwks_uri: 'https://keys.internal/' })],
    ['with too short a lifetime', 'access_token_lifetime', () => ({ access_token_lifetime: 59 })],
    ['with a profile and without PKCE', 'require_pkce', () => profiled({ require_pkce: false })],
    [
      'with a profile and without pushed requests',
      'require_pushed_authorization_requests',
      () => profiled({ require_pushed_authorization_requests: false }),
    ],
    [
      'with a profile and without DPoP',
      'dpop_bound_access_tokens',
      () => profiled({ dpop_bound_access_tokens: false }),
    ],
    [
      'with a profile and a secret',
      'token_endpoint_auth_method',
      () => profiled({ token_endpoint_auth_method: null, jwks: null }),
    ],
    [
      'with a profile, and public',
      'security_profile',
      () =>
        profiled({
          ...{ type: 'public', token_endpoint_auth_method: null, jwks: null },
          ...{ grant_types: ['authorization_code'], redirect_uris: [REDIRECT_URI] },
        }),
    ],
    ['with another profile', 'security_profile', () => ({ security_profile: 'fapi_1' })],
    ['with too long a lifetime', 'access_token_lifetime', () => ({ access_token_lifetime: 36_001 })],
  ])('%s', async (_what, member, body) => {
    const answer = await create(body());
    expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, [member]]);
    expect(answer.text).not.toContain(keys.es.privateJwk.d);
  });

  it('a secret: a new one is a conflict', async () => {
    const { id } = await clientWithKeys(service, [keys.es]);
    const answer = await service.http.send(`/admin/clients/${id}/secrets`, { bearer: token.is, json: {} });
    expect(answer.status).toBe(409);
  });
});

describe('A client', () => {
  it('with keys is made without a secret, and says what it has', async () => {
    const made = await create({ ...KEYS, jwks: jwks(keys.es, keys.rsa) });
    expect([made.status, made.json.client_secret]).toEqual([201, undefined]);
    expect(made.json).toMatchObject({ ...KEYS, jwks: jwks(keys.es, keys.rsa), jwks_uri: null });
    const id = made.json.client_id as string;
    expect([await withKey(id, keys.es), await withKey(id, keys.rsa)]).toEqual([200, 200]);
  });

  it('with a profile keeps each of its switches, until the profile is taken away, which leaves them on', async () => {
    const { json } = await create(profiled({}));
    const path = `/admin/clients/${json.client_id as string}`;
    const change = (fields: object) =>
      service.http.send(path, { method: 'PATCH', bearer: token.is, json: fields });
    for (const [name, value] of [...Object.entries(PROFILE).slice(1), ['token_endpoint_auth_method']]) {
      const answer = await change({ [name as string]: value === undefined ? null : false });
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, [name]]);
    }
    const free = await change({ security_profile: null });
    expect(free.json).toMatchObject({ ...PROFILE, security_profile: null });
    expect((await change({ require_pkce: false })).status).toBe(200);
  });

  it('as it was before says how it authenticates', async () => {
    const [confidential, app] = [await service.make.client(), await service.make.client({ type: 'public' })];
    const methodOf = async ({ id }: TestClient) =>
      (await service.http.get(`/admin/clients/${id}`, { bearer: token.is })).json
        .token_endpoint_auth_method as string;
    expect([await methodOf(confidential), await methodOf(app)]).toEqual(['client_secret_basic', 'none']);
  });

  it('that changes to keys loses its secrets at once, and gets a new one on the way back', async () => {
    const client = await service.make.client();
    const { secret: second } = await service.app
      .get(ClientSecretsService)
      .rotate(client.id, 3600, SERVICE_ACTOR);
    const portal = await enterPortal(service, client);
    expect([await withSecret(client.id, client.secret), await withSecret(client.id, second)]).toEqual([
      200, 200,
    ]);
    const changed = await change(client, { ...KEYS, jwks: jwks(keys.es) });
    expect([changed.status, changed.json.client_secret]).toEqual([200, undefined]);
    expect([await withSecret(client.id, client.secret), await withSecret(client.id, second)]).toEqual([
      401, 401,
    ]);
    expect((await portal.open('/portal')).status).toBe(401);
    expect(await withKey(client.id, keys.es)).toBe(200);
    const back = await change(client, { token_endpoint_auth_method: 'client_secret_basic' });
    expect([
      await withSecret(client.id, back.json.client_secret as string),
      await withSecret(client.id, second),
      await withKey(client.id, keys.es),
    ]).toEqual([200, 401, 401]);
    expect((await change(client, { name: 'Other' })).json.client_secret).toBeUndefined();
  });

  it('is given keys in the console, and its secret back, which is shown once', async () => {
    const client = await service.make.client();
    const edit = `/admin/console/clients/${client.id}/edit`;
    const page = await followed(await submit(edit, { ...KEYS, jwks: JSON.stringify(jwks(keys.es)) }));
    expect([page.text.includes(keys.es.kid), page.text.includes('Rotate secret')]).toEqual([true, false]);
    expect(await withKey(client.id, keys.es)).toBe(200);
    const back = await followed(await submit(edit, { token_endpoint_auth_method: '' }));
    const [, secret] = back.html.querySelectorAll('dd code').map((code) => code.text);
    expect(await withSecret(client.id, secret!)).toBe(200);
  });

  it.each<[how: string, isEnded: boolean, form: Record<string, string>]>([
    ['keeps', false, {}],
    ['ends', true, { earlier_tokens: 'end' }],
    ['ends, with the profile,', true, { security_profile: 'fapi_2' }],
    ['keeps, if asked to, with the profile,', false, { security_profile: 'fapi_2', earlier_tokens: 'keep' }],
  ])('that is switched to DPoP in the console %s its tokens from before', async (_how, isEnded, form) => {
    const client = await service.make.client();
    const user = await service.make.user();
    const own = await service.make.clientToken(client);
    const { access_token: theirs } = await service.make.tokens(client, user);
    const switches = {
      ...{ require_pkce: 'true', require_pushed_authorization_requests: 'true' },
      ...{ ...KEYS, jwks: JSON.stringify(jwks(keys.es)), dpop_bound_access_tokens: 'true' },
    };
    await followed(await submit(`/admin/console/clients/${client.id}/edit`, { ...switches, ...form }));
    for (const bearer of [own, theirs]) expect(await isAccepted(service.http, bearer)).toBe(!isEnded);
    const actions = await service.database.column<string>(
      "SELECT action FROM audit_events WHERE subject_id = $1 AND action = 'client.tokens_revoked'",
      [client.id],
    );
    expect(actions).toHaveLength(isEnded ? 1 : 0);
  });

  it('has access tokens that live as long as it says', async () => {
    const client = await service.make.client({ accessTokenLifetime: 300 });
    const user = await service.make.user();
    const own = await service.http.token({ grant_type: 'client_credentials' }, client);
    expect(own.json.expires_in).toBe(300);
    const { expires_in, refresh_token } = await service.make.tokens(client, user);
    expect(expires_in).toBe(300);
    expect((await refresh(service.http, client, refresh_token)).json.expires_in).toBe(300);
  });
});

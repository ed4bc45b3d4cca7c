import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { BrowserSession } from '../support/browser-session.js';
import { assertionOf, byAssertion, clientWithKeys, newKey } from '../support/client-keys.js';
import { newPkce, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { credentialsOf, exchange, expectOAuthError } from '../support/oauth.js';
import { useSharedService } from '../support/test-service.js';

const service = useSharedService({ instances: 2 });

const client = madeOnce(() => service.make.client());
const other = madeOnce(() => service.make.client());
const app = madeOnce(() => service.make.client({ type: 'public' }));
const user = madeOnce(() => service.make.user());
const browser = madeForEach(() => service.make.signedIn(user));

type Fields = Record<string, string | undefined>;
const REQUEST = { response_type: 'code', redirect_uri: REDIRECT_URI, scope: 'vehicle:read', state: 's' };
const push = (of: TestClient, fields: Fields = {}, path = '/o/par') =>
  service.http.send(path, { form: { ...credentialsOf(of), ...REQUEST, ...fields } });
const pushed = async (of: TestClient, fields: Fields = {}): Promise<string> => {
  const answer = await push(of, fields);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json.request_uri as string;
};
const pathOf = (of: { id: string }, requestUri: string, more: Fields = {}) =>
  `/o/authorize/?${new URLSearchParams({ client_id: of.id, request_uri: requestUri, ...(more as object) }).toString()}`;
const decide = async (path: string, decision: string) =>
  browser.submit(await browser.open(path), '/o/authorize/', { decision });

describe('A pushed request is refused', () => {
  it.each<[what: string, fields: () => Fields, error: string]>([
    ['with a request_uri in it', () => ({ request_uri: 'urn:x' }), 'invalid_request'],
    ['without a redirect URI', () => ({ redirect_uri: undefined }), 'invalid_request'],
    [
      'with a redirect URI that is not registered',
      () => ({ redirect_uri: 'https://evil.example/' }),
      'invalid_request',
    ],
    ['without a response type', () => ({ response_type: undefined }), 'invalid_request'],
    ['with another response type', () => ({ response_type: 'token' }), 'unsupported_response_type'],
    ['with a scope of others', () => ({ scope: 'admin:read' }), 'invalid_scope'],
    ['with a plain challenge', () => ({ code_challenge: '-'.repeat(43) }), 'invalid_request'],
  ])('%s', async (_what, fields, error) => {
    expectOAuthError(await push(client, fields()), 400, error);
  });

  it('without the authentication of its client, and from a client that may not use codes', async () => {
    expectOAuthError(await push(client, { client_secret: undefined }), 401, 'invalid_client');
    expectOAuthError(await push(client, { client_secret: 'x' }), 401, 'invalid_client');
    const robot = await service.make.client({ grantTypes: ['client_credentials'] });
    expectOAuthError(await push(robot), 400, 'unauthorized_client');
    expectOAuthError(await push(app), 400, 'invalid_request');
  });

  it('as anything but a form that is posted', async () => {
    expect((await service.http.get('/o/par')).status).toBe(405);
    expectOAuthError(await service.http.send('/o/par', { json: REQUEST }), 400, 'invalid_request');
    expectOAuthError(await push(client, {}, '/o/par?state=x'), 400, 'invalid_request');
  });
});

describe('The authorization page refuses', () => {
  it.each<[what: string, path: () => Promise<string>]>([
    ['an unknown request', () => Promise.resolve(pathOf(client, 'urn:ietf:params:oauth:request_uri:x'))],
    ['a request at another address', () => Promise.resolve(pathOf(client, 'https://app.example/request'))],
    ['a request of another client', async () => pathOf(other, await pushed(client))],
    [
      'an expired request',
      async () => {
        const path = pathOf(client, await pushed(client));
        await service.database.query('UPDATE pushed_requests SET expires_at = now()');
        return path;
      },
    ],
    ['two requests', async () => `${pathOf(client, await pushed(client))}&request_uri=x`],
  ])('%s, and redirects nowhere', async (_what, path) => {
    const page = await browser.open(await path());
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  });

  it('a request that is not pushed, of a client that has to push', async () => {
    const strict = await service.make.client({ requirePushedAuthorizationRequests: true });
    const query = new URLSearchParams({ ...REQUEST, client_id: strict.id }).toString();
    const { headers } = await browser.open(`/o/authorize/?${query}`);
    expect(new URL(headers.get('location')!).searchParams.get('error')).toBe('invalid_request');
    const answer = await decide(pathOf(strict, await pushed(strict)), 'authorize');
    expect(new URL(answer.headers.get('location')!).searchParams.has('code')).toBe(true);
  });
});

describe('A pushed request', () => {
  it('is stored for a minute, also with a slash, and not cached', async () => {
    for (const path of ['/o/par', '/o/par/']) {
      const answer = await push(client, {}, path);
      expect([answer.status, answer.json.expires_in]).toEqual([201, 60]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    }
    const rows = await service.database.query<{ row: string }>(
      'SELECT p::text AS row FROM pushed_requests p WHERE client_id = $1',
      [client.id],
    );
    expect(rows.map(({ row }) => row).join()).not.toContain(client.secret);
  });

  it('is kept without credentials, and without what the page does not know', async () => {
    const requestUri = await pushed(client, { login_hint: 'driver@home.example', nonce: 'n' });
    expect(requestUri).toMatch(/^urn:/);
    const rows = await service.database.query<{ query: string }>(
      'SELECT query FROM pushed_requests WHERE client_id = $1',
      [client.id],
    );
    const names = new Set(rows.flatMap(({ query }) => [...new URLSearchParams(query).keys()]));
    expect([...names].sort()).toEqual(['client_id', 'redirect_uri', 'response_type', 'scope', 'state']);
  });

  it('leads to a code for what was pushed, whatever is beside it, and can be read again until then', async () => {
    const { verifier, challenge } = newPkce();
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    const path = pathOf(client, await pushed(client, pkce), {
      ...{ scope: 'charging_session:read', redirect_uri: 'https://evil.example/', state: 'other' },
    });
    expect([(await browser.open(path)).status, (await browser.open(path)).status]).toEqual([200, 200]);
    const answer = await decide(path, 'authorize');
    const { origin, pathname, searchParams } = new URL(answer.headers.get('location')!);
    expect([origin + pathname, searchParams.get('state')]).toEqual([REDIRECT_URI, 's']);
    const fields = { code_verifier: verifier };
    const tokens = await exchange(service.http, client, searchParams.get('code')!, fields);
    expect([tokens.status, tokens.json.scope]).toEqual([200, 'vehicle:read']);
    expect((await browser.open(path)).status).toBe(400);
  });

  it('is decided once, at all instances', async () => {
    const path = pathOf(client, await pushed(client));
    const page = await browser.open(path);
    const cancelled = await browser.submit(page, '/o/authorize/', { decision: 'cancel' });
    expect(new URL(cancelled.headers.get('location')!).searchParams.get('error')).toBe('access_denied');
    const again = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    expect([again.status, again.headers.get('location')]).toEqual([400, null]);
    expect((await browser.open(path)).status).toBe(400);
  });

  it('gives a code to each click of a double click, also at two instances, and to none after ten seconds', async () => {
    const path = pathOf(client, await pushed(client));
    const page = await browser.open(path);
    const there = new BrowserSession(service.instances[1]!.url, { origin: service.url });
    for (const [name, value] of browser.cookies) there.cookies.set(name, value);
    const click = async (by: BrowserSession) => by.submit(page, '/o/authorize/', { decision: 'authorize' });
    const answers = await Promise.all([click(browser), click(there)]);
    const codes = answers.map(({ headers }) => new URL(headers.get('location')!).searchParams.get('code')!);
    expect(new Set(codes).size).toBe(2);
    for (const code of codes) expect((await exchange(service.http, client, code)).status).toBe(200);
    const [row] = await service.database.query<{ soon: boolean }>(
      `UPDATE pushed_requests SET expires_at = now() WHERE decided_by IS NOT NULL AND client_id = $1
       RETURNING (SELECT max(expires_at) <= now() + interval '10 seconds' FROM pushed_requests WHERE decided_by IS NOT NULL) AS soon`,
      [client.id],
    );
    expect(row!.soon).toBe(true);
    expect((await click(browser)).status).toBe(400);
  });

  it('is shown in the language that it asks for, unless its reader asks for another one', async () => {
    const path = pathOf(client, await pushed(client, { ui_locales: 'pt fr' }));
    const languageAt = async (address: string) =>
      (await browser.open(address)).html.querySelector('html')!.getAttribute('lang');
    expect(await languageAt(path)).toBe('fr');
    expect(await languageAt(`${path}&ui_locales=de`)).toBe('de');
  });

  it('lasts while its user logs in', async () => {
    const path = pathOf(client, await pushed(client));
    expect((await browser.open(path)).status).toBe(200);
    const [row] = await service.database.query<{ seconds: number }>(
      'SELECT extract(epoch FROM max(expires_at) - now())::int AS seconds FROM pushed_requests WHERE client_id = $1',
      [client.id],
    );
    expect(row!.seconds).toBeGreaterThan(3000);
  });

  it('is pushed by a client with keys, and by a public client', async () => {
    const key = await newKey();
    const keyed = await clientWithKeys(service, [key]);
    const form = { ...REQUEST, ...byAssertion(await assertionOf(key, keyed.id, service.url)) };
    const answer = await service.http.send('/o/par', { form });
    expect(answer.status).toBe(201);
    expect((await browser.open(pathOf(keyed, answer.json.request_uri as string))).status).toBe(200);
    const pkce = { code_challenge: newPkce().challenge, code_challenge_method: 'S256' };
    expect((await browser.open(pathOf(app, await pushed(app, pkce)))).status).toBe(200);
    const rows = await service.database.query<{ query: string }>('SELECT query FROM pushed_requests');
    expect(rows.map(({ query }) => query).join()).not.toMatch(/client_secret|client_assertion/);
  });
});

describe('Stock libraries push requests', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const codeAt = async (address: URL): Promise<URL> => {
    expect([...address.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    const answer = await decide(address.pathname + address.search, 'authorize');
    return new URL(answer.headers.get('location')!);
  };

  it('oauth4webapi, with a key', async () => {
    const key = await newKey('PS256');
    const { id } = await clientWithKeys(service, [key], { requirePushedAuthorizationRequests: true });
    const [issuer, of] = [new URL(service.url), { client_id: id }];
    const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, discovery);
    const by = oauth.PrivateKeyJwt({ key: key.privateKey, kid: key.kid });
    const { verifier, challenge } = newPkce();
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    const parameters = new URLSearchParams({ ...REQUEST, ...pkce });
    const answer = await oauth.pushedAuthorizationRequest(server, of, by, parameters, insecure);
    const { request_uri } = await oauth.processPushedAuthorizationResponse(server, of, answer);
    const address = new URL(server.authorization_endpoint!);
    address.search = new URLSearchParams({ ...of, request_uri }).toString();
    const checked = oauth.validateAuthResponse(server, of, await codeAt(address), REQUEST.state);
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      of,
      await oauth.authorizationCodeGrantRequest(server, of, by, checked, REDIRECT_URI, verifier, insecure),
    );
    expect(tokens.scope).toBe(REQUEST.scope);
  });

  it('openid-client, with a secret', async () => {
    const config = await openid.discovery(new URL(service.url), client.id, client.secret, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    const { verifier, challenge } = newPkce();
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    const address = await openid.buildAuthorizationUrlWithPAR(config, { ...REQUEST, ...pkce });
    const checks = { pkceCodeVerifier: verifier, expectedState: REQUEST.state };
    const tokens = await openid.authorizationCodeGrant(config, await codeAt(address), checks);
    expect(tokens.scope).toBe(REQUEST.scope);
  });
});

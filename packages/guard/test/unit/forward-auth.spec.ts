import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rawRequest, sendRaw } from '../../../../test/support/raw-http.js';
import { until } from '../../../../test/support/until.js';
import { forwardAuth, type ForwardAuthOptions } from '../../src/forward-auth.js';
import { runGateway } from '../../src/gateway-program.js';
import { AccessGuard } from '../../src/index.js';
import { userPattern } from '../../src/path-pattern.js';
import { active, CLIENT, StandIn, TOKEN, USER } from './stand-in.js';

const OTHER = 'user01HN2NJ9NMRZBXT1H6FT9N7736';
const SECRET = 'cds_cs_the-secret-of-the-guard';
const ROUTES = {
  vehicles: { scopes: ['vehicle:read'], user: '/users/{user}/vehicles/**' },
  mine: { scopes: ['vehicle:read'], user: 'token' },
  prices: { scopes: ['vehicle:read'], user: 'none' },
  anything: { user: '/users/{user}/**' },
};

let service: StandIn;
beforeEach(async () => void (service = await StandIn.start()));
afterEach(() => service.stop());

describe('The door for gateways', () => {
  let guard: AccessGuard;
  let server: Server | undefined;
  let url: string;
  let errors: unknown[];

  async function open(options: Partial<ForwardAuthOptions> = {}): Promise<void> {
    errors = [];
    guard = new AccessGuard({
      url: service.url,
      clientId: CLIENT,
      clientSecret: SECRET,
      resource: 'https://data.example.com',
      followChanges: false,
      timeoutMs: 60_000,
    });
    const onError = (error: unknown) => void errors.push(error);
    server = createServer(forwardAuth(guard, { routes: ROUTES, onError, ...options }));
    server.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  beforeEach(() => open());
  afterEach(async () => {
    await guard.close();
    server!.closeAllConnections();
    await new Promise((resolve) => server!.close(resolve));
  });

  const ask = async (
    check: string,
    headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` },
  ) => {
    const response = await fetch(`${url}/check/${check}`, { headers });
    const { status } = response;
    return { status, headers: response.headers, text: await response.text() };
  };
  const vehicles = (user = USER) => ask(`vehicles/users/${user}/vehicles`);
  const authOf = (headers: Headers) =>
    ['client', 'user', 'scopes'].map((name) => headers.get(`x-auth-${name}`));

  it.each([
    ['without a token', {}, 401],
    ['with another scheme', { authorization: 'Basic eDp5' }, 401],
    ['with a token that the service does not know', { authorization: 'Bearer unknown' }, 401],
  ])('refuses a request %s', async (_, headers, status) => {
    service.introspect = () => ({ status: 200, body: { active: false } });
    const answer = await ask(`vehicles/users/${USER}/vehicles`, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*resource_metadata=/);
    expect(authOf(answer.headers)).toEqual([null, null, null]);
  });

  it.each([
    ['a token in the query string', 'vehicles/users/x/vehicles?access_token=x', {}],
    ['two tokens', 'vehicles/users/x/vehicles?access_token=x', { authorization: `Bearer ${TOKEN}` }],
  ])('answers %s with 401, without asking', async (_, check, headers) => {
    expect((await ask(check, headers)).status).toBe(401);
    expect(service.asked).toEqual([]);
  });

  it('refuses a token without the scope, and one that may do nothing with the data of the user in the path', async () => {
    service.introspect = (form) => ({
      status: 200,
      body: active({ scope: form.get('user_id') === OTHER ? '' : 'charging_session:read' }),
    });
    for (const check of [
      `vehicles/users/${USER}/vehicles`,
      `anything/users/${OTHER}/x`,
      'mine/me',
      'prices/',
    ]) {
      expect([check, (await ask(check)).status]).toEqual([check, 403]);
    }
    expect((await ask(`anything/users/${USER}/x`)).status).toBe(204);
  });

  it.each([
    'vehicles',
    'vehicles/',
    `vehicles/${USER}`,
    'vehicles/users/x/vehicles',
    `vehicles/users/${USER}`,
    `vehicles/Users/${USER}/vehicles`,
    `vehicles/users/${USER}/sessions`,
    `vehicles//users/${USER}/vehicles`,
    `vehicles/users//${USER}/vehicles`,
    `vehicles/users/${USER}%00/vehicles`,
    `vehicles/users/%75${USER.slice(1)}/vehicles`,
    `vehicles/users/${USER};a=b/vehicles`,
    // Another user's, to a server that resolves or decodes it.
    `vehicles/users/${USER}/vehicles/..%2f..%2f${OTHER}/vehicles`,
    `vehicles/users/${USER}/vehicles/%2e%2e/%2e%2e/${OTHER}/vehicles`,
    `vehicles/users/${USER}/vehicles/..;/..;/${OTHER}/vehicles`,
    `vehicles/users/${USER}/vehicles/%252e%252e/${OTHER}`,
    `vehicles/users/${USER}/vehicles/..%5c${OTHER}`,
    `vehicles/users/${USER}/vehicles/%zz`,
    `vehicles/users/${USER}/vehicles/../../${OTHER}/vehicles`,
    `vehicles/users/${USER}/./vehicles`,
    `vehicles/x?/users/${USER}/vehicles`,
  ])('finds no user in %s, and refuses it', async (check) => {
    // `fetch` would resolve the dots before.
    const answer = await sendRaw(
      url,
      rawRequest(`GET /check/${check}`, { authorization: `Bearer ${TOKEN}`, connection: 'close' }),
    );
    expect(answer.status).toBe(403);
  });

  it('admits with 204, and says who asks and what it may do', async () => {
    const answer = await vehicles();
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(authOf(answer.headers)).toEqual([CLIENT, USER, 'vehicle:read']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(service.asked[0]!.get('user_id')).toBe(USER);
    expect((await ask(`vehicles/users/${USER}/vehicles/4711/?page=2`)).status).toBe(204);
    expect((await ask(`vehicles/users/${USER}/vehicles/a%20b`)).status).toBe(204);
  });

  it('names the user of the path for a token that a client got in its own name, and nobody without one', async () => {
    service.introspect = () => ({
      status: 200,
      body: active({ grant_type: 'client_credentials', sub: CLIENT }),
    });
    expect(authOf((await vehicles(OTHER)).headers)).toEqual([CLIENT, OTHER, 'vehicle:read']);
    const prices = await ask('prices/prices');
    // Not empty: some gateways take an empty header for none, and let the one of the outside through.
    expect([prices.status, ...authOf(prices.headers)]).toEqual([204, CLIENT, '-', 'vehicle:read']);
    expect((await ask('mine/me')).status).toBe(403);
  });

  it('believes no header of the outside', async () => {
    service.introspect = () => ({
      status: 200,
      body: active({ grant_type: 'client_credentials', sub: CLIENT }),
    });
    const answer = await ask('prices/', {
      authorization: `Bearer ${TOKEN}`,
      'x-auth-user': OTHER,
      'x-auth-client': 'clnt-forged',
      'x-auth-scopes': 'admin:write',
    });
    expect(authOf(answer.headers)).toEqual([CLIENT, '-', 'vehicle:read']);
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-uri': `/users/${USER}/vehicles` };
    expect((await ask('vehicles', headers)).status).toBe(403);
  });

  it('reads the address in the header where it is told to, and only there', async () => {
    await guard.close();
    server!.close();
    await open({ originalUri: 'x-forwarded-uri' });
    const headers = (uri: string) => ({ authorization: `Bearer ${TOKEN}`, 'x-forwarded-uri': uri });
    expect((await ask('vehicles', headers(`/users/${USER}/vehicles?page=2`))).status).toBe(204);
    expect((await ask('vehicles', headers(`/users/${USER}/vehicles?access_token=x`))).status).toBe(401);
    expect((await ask(`vehicles/users/${USER}/vehicles`)).status).toBe(403);
    // Two of them.
    const two = `/users/${USER}/vehicles, /users/${OTHER}/vehicles`;
    expect((await ask('vehicles', headers(two))).status).toBe(403);
  });

  it('admits with 200 for a gateway that knows no other status', async () => {
    await guard.close();
    server!.close();
    await open({ admittedStatus: 200 });
    const answer = await vehicles();
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(authOf(answer.headers)).toEqual([CLIENT, USER, 'vehicle:read']);
  });

  it.each([
    ['answers with an error', () => ({ status: 500, body: {} })],
    ['answers with something else', () => ({ status: 200, body: 'active' })],
    ['refuses the guard', () => ({ status: 401, body: {} })],
  ])('admits nothing while the service %s', async (_, introspect) => {
    service.introspect = introspect;
    const answer = await vehicles();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(authOf(answer.headers)).toEqual([null, null, null]);
  });

  it('admits nothing while the service is away', async () => {
    const { port } = new URL(service.url);
    await service.stop();
    expect((await vehicles()).status).toBe(503);
    service = await StandIn.start();
    expect(new URL(service.url).port).not.toBe(port);
  });

  it('admits nothing with an answer that no header can hold', async () => {
    service.introspect = () => ({ status: 200, body: active({ scope: 'vehicle:read a\r\nx-auth-user:b' }) });
    expect((await vehicles()).status).toBe(503);
    expect(errors).toEqual([expect.objectContaining({ code: 'ERR_INVALID_CHAR' })]);
  });

  it('admits nothing at an error of its own, and reports it', async () => {
    jest.spyOn(guard, 'authorize').mockRejectedValue(new Error('broken'));
    expect((await vehicles()).status).toBe(503);
    expect(errors).toEqual([new Error('broken')]);
  });

  it.each(['', 'nothing', 'vehicle', '__proto__', 'constructor', '%76ehicles'])(
    'knows no route %j, and admits nothing there',
    async (name) => {
      expect((await ask(`${name}/users/${USER}/vehicles`)).status).toBe(404);
      expect(service.asked).toEqual([]);
    },
  );

  it('answers whatever the method is, and reads no body', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (const method of ['HEAD', 'POST', 'DELETE', 'OPTIONS']) {
      const body = method === 'POST' ? 'x'.repeat(100_000) : undefined;
      const { status } = await fetch(`${url}/check/prices/`, { method, headers, body });
      expect([method, status]).toEqual([method, 204]);
    }
  });

  it('serves the metadata that its challenges name', async () => {
    const answer = await fetch(`${url}/.well-known/oauth-protected-resource`);
    expect(await answer.json()).toMatchObject({ resource: 'https://data.example.com' });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });

  it.each([
    ['a name', { 'Not A Name': ROUTES.mine }],
    ['scopes', { a: { scopes: 'vehicle:read' as never, user: 'none' } }],
    ['scopes', { a: { scopes: ['two scopes'], user: 'none' } }],
    ['scopes', { a: { user: 'none' } }],
    ['scopes', { a: { scopes: [], user: 'token' } }],
    ['user', { a: { scopes: ['vehicle:read'] } as never }],
    ['user', { a: { scopes: ['vehicle:read'], user: 'everybody' } }],
    ['user', { a: { user: '/users/*/vehicles' } }],
    ['user', { a: { user: '/{user}/{user}' } }],
    ['user', { a: { user: '/users/../{user}' } }],
    ['user', { a: { user: '/users/{user}x' } }],
    ['user', { a: { user: '/**/{user}' } }],
    ['user', { a: { user: 'users/{user}' } }],
  ])('does not open with a route that has no valid %s: %j', (what, routes) => {
    expect(() => forwardAuth(guard, { routes })).toThrow(TypeError);
    expect(() => forwardAuth(guard, { routes })).toThrow(what === 'a name' ? /name/ : new RegExp(what));
  });

  it('finds the user at its place', () => {
    const at = (pattern: string, uri: string) => userPattern(pattern)(uri);
    expect(at('/{user}', '/a')).toBe('a');
    expect(at('/v1/*/users/{user}', '/v1/eu/users/a/')).toBe('a');
    expect(at('/v1/*/users/{user}', '/v1/eu/users/a/b')).toBeUndefined();
    expect(at('/users/{user}/**', '/users/a')).toBe('a');
    expect(at('/users/{user}/**', '/users/a/b/c?d=/users/e')).toBe('a');
    expect(at('/users/{user}/**', '/users')).toBeUndefined();
    expect(at('/users/{user}/**', '/users/')).toBeUndefined();
  });
});

describe('The program charging-data-guard', () => {
  let folder: string;
  let routes: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-gateway-'));
    routes = path.join(folder, 'routes.json');
    await writeFile(routes, JSON.stringify(ROUTES));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const environment = (): NodeJS.ProcessEnv => ({
    CHARGING_DATA_URL: service.url,
    CHARGING_DATA_CLIENT_ID: CLIENT,
    CHARGING_DATA_CLIENT_SECRET: SECRET,
    RESOURCE: 'https://data.example.com',
  });
  function run(args: string[], env = environment()) {
    const stopping = new AbortController();
    const said = { out: '', error: '' };
    const code = runGateway(args, {
      env,
      out: (text) => (said.out += text),
      error: (text) => (said.error += text),
      stop: stopping.signal,
    });
    return { said, code, stop: () => stopping.abort() };
  }

  it.each([
    [[], {}, /--routes/],
    [['--routes', '/nowhere.json'], {}, /cannot be read/],
    [['--nothing'], {}, /--nothing/],
    [['--routes', 'ROUTES'], { CHARGING_DATA_URL: '' }, /CHARGING_DATA_URL/],
    [['--routes', 'ROUTES'], { CHARGING_DATA_URL: 'http://auth.example.com' }, /https/],
    [['--routes', 'ROUTES'], { CHARGING_DATA_CLIENT_SECRET: '' }, /CHARGING_DATA_CLIENT_SECRET/],
    [['--routes', 'ROUTES'], { CHARGING_DATA_CLIENT_SECRET_FILE: '/nowhere' }, /not both/],
    [['--routes', 'ROUTES'], { RESOURCE: 'data' }, /resource/],
    [['--routes', 'ROUTES', '--original-uri', 'x-original-uri'], {}, /--original-uri/],
    [['--routes', 'ROUTES', '--admitted-status', '201'], {}, /--admitted-status/],
    [['--routes', 'ROUTES', '--port', 'x'], {}, /--port/],
  ])('does not start with %j and %j', async (args, env, message) => {
    const { said, code } = run(
      args.map((arg) => (arg === 'ROUTES' ? routes : arg)),
      { ...environment(), ...env },
    );
    expect(await code).toBe(2);
    expect(said.error).toMatch(message);
    expect(said.error).not.toContain(SECRET);
    expect(said.out).toBe('');
  });

  it.each([
    'no JSON',
    '{}',
    '[]',
    '{"a": 1}',
    '{"a": {"scope": ["x"], "user": "none"}}',
    '{"a": {"user": "none"}}',
  ])('does not start with routes that are %s', async (text) => {
    await writeFile(routes, text);
    expect(await run(['--routes', routes]).code).toBe(2);
  });

  it('prints its help', async () => {
    const { said, code } = run(['--help'], {});
    expect([await code, said.error]).toEqual([0, '']);
    expect(said.out).toContain('--routes <file>');
  });

  it('says where it listens, follows the changes from then on, and ends when it is stopped', async () => {
    const secret = path.join(folder, 'secret');
    await writeFile(secret, `${SECRET}\n`);
    const args = ['--routes', routes, '--port', '0', '--admitted-status', '200'];
    const { said, code, stop } = run(args, {
      ...environment(),
      CHARGING_DATA_CLIENT_SECRET: undefined,
      CHARGING_DATA_CLIENT_SECRET_FILE: secret,
    });
    await until('it listens', () => said.out !== '');
    const [url] = /http\S+/.exec(said.out)!;
    await until('it asks for the feed', () => service.feeds.length > 0);
    const answer = await fetch(`${url}/check/vehicles/users/${USER}/vehicles`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect([answer.status, answer.headers.get('x-auth-user')]).toEqual([200, USER]);
    const metadata = await fetch(`${url}/.well-known/oauth-protected-resource`);
    expect(await metadata.json()).toMatchObject({ scopes_supported: ['vehicle:read'] });
    stop();
    expect(await code).toBe(0);
    expect(said.error).toBe('');
    await expect(fetch(url)).rejects.toThrow();
  });

  it('says so when its port is taken', async () => {
    const { port } = new URL(service.url);
    const { said, code } = run(['--routes', routes, '--port', port]);
    expect(await code).toBe(1);
    expect(said.error).toContain('cannot listen');
  });
});

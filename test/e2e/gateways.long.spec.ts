import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { madeForEach, madeOnce, type TestClient, until, useSharedService } from '../support/spec.js';
import { freePort } from '../support/free-port.js';
import { Gateway, gatewaySamples, lackingGateway, type GatewayName } from '../support/gateways.js';
import { describeUnless } from '../support/left-out.js';
import { credentialsOf, revoke } from '../support/oauth.js';
import { Receiver } from '../support/receiver.js';

const service = useSharedService();
const inspector = madeOnce(() => service.make.operatorClient(['token:introspect']));
const client = madeForEach(() => service.make.client());
const user = madeForEach(() => service.make.user());
const other = madeOnce(() => service.make.user());

/** What is behind the gateway: it answers with the headers that reached it. */
const data = Receiver.setUp((response, { headers, url }) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ url, headers }));
});

let samples: Map<string, string>;
let folder: string;
beforeAll(async () => {
  samples = await gatewaySamples();
  folder = await mkdtemp(path.join(tmpdir(), 'charging-gateways-'));
  await writeFile(path.join(folder, 'routes.json'), samples.get('routes.json')!);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The built program, as the page starts it. */
class Door {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
  ) {}

  static async start(port: number, ...flags: string[]): Promise<Door> {
    const args = ['--routes', path.join(folder, 'routes.json'), '--port', String(port), ...flags];
    const child = spawn(process.execPath, ['packages/guard/bin/charging-data-guard.mjs', ...args], {
      env: {
        CHARGING_DATA_URL: service.url,
        CHARGING_DATA_CLIENT_ID: inspector.id,
        CHARGING_DATA_CLIENT_SECRET: inspector.secret,
        RESOURCE: 'https://data.example.com',
      },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
    await until('the door is open', () => {
      if (child.exitCode !== null) throw new Error(said);
      return said.includes('Listening');
    });
    return new Door(port, child);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }
}

const vehicles = (id: string) => `/users/${id}/vehicles`;
const bearer = (token: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${token}`,
  ...more,
});
const FORGED = { 'x-auth-user': 'forged', 'x-auth-client': 'forged', 'x-auth-scopes': 'forged' };

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends a request as it is: `fetch` would change the path. */
const send = (url: string, path: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request(url, { path, headers, method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    })
      .on('error', reject)
      .end();
  });

const GATEWAYS: { name: GatewayName; file: string; flags: string[]; closed: number }[] = [
  { name: 'nginx', file: 'nginx.conf', flags: [], closed: 500 },
  { name: 'caddy', file: 'Caddyfile', flags: ['--original-uri', 'x-forwarded-uri'], closed: 502 },
];

for (const { name, file, flags, closed } of GATEWAYS) {
  describeUnless(lackingGateway(name), `${name} with the configuration of docs/gateways.md`, () => {
    let door: Door;
    let gateway: Gateway;

    beforeAll(async () => {
      const [doorPort, port] = [await freePort(), await freePort()];
      door = await Door.start(doorPort, ...flags);
      const sample = samples
        .get(file)!
        .replaceAll('4180', String(doorPort))
        .replaceAll('9000', String(data.port))
        .replace(/\b8080\b/, String(port));
      gateway = await Gateway.start(name, sample, port);
    });
    afterAll(async () => {
      await gateway.stop();
      await door.stop();
    });

    const get = async (target: string, headers: Record<string, string>) => {
      const answer = await send(gateway.url, target, headers);
      const seen = answer.status === 200 ? (JSON.parse(answer.text) as Seen) : undefined;
      return { ...answer, seen };
    };
    const token = async (scope?: string) => (await service.make.tokens(client, user, scope)).access_token;

    it('refuses requests without a token, with a bad one, without the scope, and for another user', async () => {
      const before = data.requests.length;
      const none = await get(vehicles(user.id), {});
      expect([none.status, none.headers['www-authenticate']]).toEqual([
        401,
        expect.stringContaining('resource_metadata="https://data.example.com/'),
      ]);
      expect((await get(vehicles(user.id), bearer('cds_at_invented'))).status).toBe(401);
      const narrow = bearer(await token('charging_session:read'));
      expect((await get(vehicles(user.id), narrow)).status).toBe(403);
      expect((await get(vehicles(other.id), bearer(await token()))).status).toBe(403);
      expect(data.requests).toHaveLength(before);
    });

    it('passes requests on with who asks, whatever the caller claims, and without the token', async () => {
      const { status, seen } = await get(`${vehicles(user.id)}/4711?page=2`, bearer(await token(), FORGED));
      expect([status, seen?.url]).toEqual([200, `${vehicles(user.id)}/4711?page=2`]);
      expect(seen!.headers).toMatchObject({
        'x-auth-client': client.id,
        'x-auth-user': user.id,
        'x-auth-scopes': expect.stringContaining('vehicle:read'),
      });
      expect(JSON.stringify(seen!.headers)).not.toMatch(/forged|cds_at_/);
    });

    it("admits a client's own token for a user who consents, until the consent ends", async () => {
      await service.make.consent(client, user);
      const own = bearer(await service.make.clientToken(client), FORGED);
      const { seen } = await get(vehicles(user.id), own);
      expect(seen!.headers).toMatchObject({ 'x-auth-client': client.id, 'x-auth-user': user.id });
      expect((await get(vehicles(other.id), own)).status).toBe(403);
      await service.app.get(ConsentsService).revoke(client.id, user.id, SERVICE_ACTOR);
      await until('it is refused', async () => (await get(vehicles(user.id), own)).status === 403);
    });

    it('refuses a token that was revoked', async () => {
      const dead = await token();
      expect((await get(vehicles(user.id), bearer(dead))).status).toBe(200);
      await revoke(service.http, client, dead);
      await until('it is refused', async () => (await get(vehicles(user.id), bearer(dead))).status === 401);
    });

    it.each([
      '/users/MINE/vehicles/../../THEIRS/vehicles',
      '/users/MINE/vehicles/%2e%2e/%2e%2e/THEIRS/vehicles',
      '/users/MINE/vehicles/..%2f..%2fTHEIRS/vehicles',
      '/users/MINE/vehicles/..;/..;/THEIRS/vehicles',
      '/users/THEIRS/vehicles/../../MINE/vehicles',
      '//users/THEIRS/vehicles?/users/MINE/vehicles',
      '/users/THEIRS/vehicles%3f/users/MINE/vehicles',
    ])('passes on no path that could mean another user: %s', async (written) => {
      const target = written.replace('MINE', user.id).replace('THEIRS', other.id);
      const before = data.requests.length;
      const claim = { 'x-forwarded-uri': vehicles(user.id), 'x-original-uri': vehicles(user.id) };
      const { status } = await get(target, bearer(await token(), claim));
      expect([400, 403, 404]).toContain(status);
      expect(data.requests).toHaveLength(before);
    });

    it('keeps the door itself and everything else to itself, but for the metadata', async () => {
      for (const target of [
        '/',
        '/check/vehicles',
        '/_check/vehicles',
        `/_check/vehicles${vehicles(user.id)}`,
      ]) {
        expect([target, (await get(target, bearer(await token()))).status]).toEqual([target, 404]);
      }
      const metadata = await send(gateway.url, '/.well-known/oauth-protected-resource', {});
      expect([metadata.status, JSON.parse(metadata.text)]).toEqual([
        200,
        expect.objectContaining({ authorization_servers: [service.url] }),
      ]);
    });

    it('lets nothing through while the door is shut', async () => {
      const valid = bearer(await token());
      expect((await get(vehicles(user.id), valid)).status).toBe(200);
      await door.stop();
      const before = data.requests.length;
      expect((await get(vehicles(user.id), valid)).status).toBe(closed);
      expect(data.requests).toHaveLength(before);
      door = await Door.start(door.port, ...flags);
      expect((await get(vehicles(user.id), valid)).status).toBe(200);
    });
  });
}

describeUnless(lackingGateway('nginx'), 'nginx that asks the introspection endpoint itself', () => {
  it('lets every token through, as docs/gateways.md warns', async () => {
    const port = await freePort();
    const { client_id: id, client_secret: secret } = credentialsOf(inspector);
    const sample = `server {
      listen 127.0.0.1:${port};
      location / { auth_request /_introspect; proxy_pass http://127.0.0.1:${data.port}; }
      location = /_introspect {
        internal;
        proxy_pass ${service.url}/o/introspect/;
        proxy_method POST;
        proxy_set_header Authorization "Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}";
        proxy_set_header Content-Type application/x-www-form-urlencoded;
        proxy_set_body token=$http_x_token;
      }
    }`;
    const gateway = await Gateway.start('nginx', sample, port);
    try {
      expect((await send(gateway.url, '/', { 'x-token': 'cds_at_invented' })).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  });
});

/** What these programs send, by their documentation and source: they are in no Debian package. */
describe('The door, asked as by the configuration of docs/gateways.md', () => {
  let door: Door;
  afterEach(() => door.stop());

  const token = async (of: TestClient = client, scope?: string) =>
    (await service.make.tokens(of, user, scope)).access_token;

  it('of Traefik: the address, with the original one in X-Forwarded-Uri', async () => {
    interface Sample {
      http: { middlewares: Record<string, { forwardAuth: ForwardAuth }> };
    }
    interface ForwardAuth {
      address: string;
      authRequestHeaders: string[];
      authResponseHeaders: string[];
      trustForwardHeader: boolean;
    }
    const { http } = parse(samples.get('traefik.yaml')!) as Sample;
    const { forwardAuth } = http.middlewares['vehicles-access']!;
    expect(forwardAuth).toMatchObject({ authRequestHeaders: ['Authorization'], trustForwardHeader: false });
    door = await Door.start(await freePort(), '--original-uri', 'x-forwarded-uri');
    const { pathname } = new URL(forwardAuth.address);
    const ask = (uri: string, headers: Record<string, string>) =>
      send(`http://127.0.0.1:${door.port}`, pathname, {
        ...headers,
        'x-forwarded-method': 'GET',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'data.example.com',
        'x-forwarded-uri': uri,
        'x-forwarded-for': '192.0.2.1',
      });
    expect((await ask(vehicles(user.id), {})).status).toBe(401);
    expect((await ask(vehicles(other.id), bearer(await token()))).status).toBe(403);
    const admitted = await ask(`${vehicles(user.id)}?page=2`, bearer(await token()));
    expect(admitted.status).toBe(204);
    expect(forwardAuth.authResponseHeaders.map((name) => admitted.headers[name.toLowerCase()])).toEqual([
      client.id,
      user.id,
      expect.stringContaining('vehicle:read'),
    ]);
  });

  it('of Envoy: the prefix and the path, with the method of the request', async () => {
    const { ext_authz: filter } = filtersIn(parse(samples.get('envoy.yaml')!));
    expect(filter).toMatchObject({ failure_mode_allow: false, transport_api_version: 'V3' });
    const { path_prefix: prefix, authorization_response: kept } = filter.http_service;
    door = await Door.start(await freePort(), '--admitted-status', '200');
    const ask = (target: string, headers: Record<string, string>, method = 'GET') =>
      send(`http://127.0.0.1:${door.port}`, prefix + target, { ...headers, 'content-length': '0' }, method);
    expect((await ask(vehicles(user.id), {})).status).toBe(401);
    expect((await ask(vehicles(other.id), bearer(await token()))).status).toBe(403);
    expect((await ask('/', bearer(await token()))).status).toBe(403);
    for (const method of ['GET', 'POST']) {
      const admitted = await ask(`${vehicles(user.id)}/4711?page=2`, bearer(await token()), method);
      expect(admitted.status).toBe(200);
      const names = kept.allowed_upstream_headers.patterns.map(({ exact }) => exact);
      expect(names.map((name) => admitted.headers[name.toLowerCase()])).toEqual([
        client.id,
        user.id,
        expect.stringContaining('vehicle:read'),
      ]);
    }
  });
});

interface Seen {
  url: string;
  headers: Record<string, string>;
}

interface ExtAuthz {
  failure_mode_allow: boolean;
  transport_api_version: string;
  http_service: {
    path_prefix: string;
    authorization_response: { allowed_upstream_headers: { patterns: { exact: string }[] } };
  };
}

/** The filter in Envoy's configuration. */
function filtersIn(config: unknown): { ext_authz: ExtAuthz } {
  let found: ExtAuthz | undefined;
  JSON.stringify(config, (_key, value: unknown) => {
    const { name, typed_config: typed } = (value ?? {}) as { name?: string; typed_config?: ExtAuthz };
    if (name === 'envoy.filters.http.ext_authz') found = typed;
    return value;
  });
  return { ext_authz: found! };
}

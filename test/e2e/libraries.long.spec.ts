import { Apache, lackingApache } from '../support/apache.js';
import { madeOnce, revoke, type TestClient, until, useSharedService } from '../support/spec.js';
import { freePort } from '../support/free-port.js';
import { describeUnless } from '../support/left-out.js';
import { LACKING, PagePrograms, type PageProgram } from '../support/page-programs.js';
import { TlsFront } from '../support/tls-front.js';
import { describeLibrary, newestGrantOf, settingsOf } from './libraries.js';

const service = useSharedService();

const user = madeOnce(() => service.make.user());
const client = madeOnce(() => service.make.client());

const LIBRARIES: [slug: string, extension: string, lacking: string | undefined][] = [
  ['requests-oauthlib', 'py', LACKING['requests-oauthlib']],
  ['authlib', 'py', LACKING.authlib],
  ['go-oauth2', 'go', LACKING['go-oauth2']],
  ['ruby-oauth2', 'rb', LACKING['ruby-oauth2']],
];

for (const each of LIBRARIES) describeLibrary(service, ...each);

describeUnless(
  LACKING['requests-oauthlib'],
  'The program on the page about requests-oauthlib that refreshes by itself',
  () => {
    it('stores the new pair before it uses it', async () => {
      const programs = await PagePrograms.of(service.http, '/docs/libraries/requests-oauthlib');
      const old = { ...(await service.make.tokens(client, user)), expires_at: 1 };
      const settings = { ...settingsOf(client), TOKEN: JSON.stringify(old) };
      const { code, lines, err } = await programs.start('auto_refresh.py', settings).end();
      await programs.remove();
      expect({ code, err, first: lines[0] }).toEqual({ code: 0, err: '', first: 'stored' });
      expect(JSON.parse(lines[1]!)).toMatchObject({ id: user.id });
      expect(await newestGrantOf(service, client)).toEqual({ generation: 1, revoked: false });
    });
  },
);
describe('The agent and the server on the page about the MCP SDK', () => {
  let programs: PagePrograms;
  let server: PageProgram;
  let address: string;
  const browser = madeOnce(() => service.make.signedIn(user));
  const app = madeOnce(() => service.make.client({ type: 'public' }));

  beforeAll(async () => {
    programs = await PagePrograms.of(service.http, '/docs/libraries/mcp-sdk');
    const inspector = await service.make.operatorClient(['token:introspect']);
    server = programs.start('server.mjs', {
      PORT: String(await freePort()),
      GUARD_CLIENT_ID: inspector.id,
      GUARD_CLIENT_SECRET: inspector.secret!,
    });
    address = await server.firstLine();
  });
  afterAll(async () => {
    await server.kill();
    await programs.remove();
  });

  /** Opens the address that the agent prints, decides, and pastes the address of the way back. */
  async function run(of: TestClient, decision: 'authorize' | 'cancel', change?: (cameTo: URL) => void) {
    const agent = programs.start('agent.mjs', { ...settingsOf(of), MCP_URL: address });
    const sent = new URL(await agent.firstLine());
    const cameTo = await browser.authorize(Object.fromEntries(sent.searchParams), decision);
    change?.(cameTo);
    agent.type(cameTo.href);
    return { sent, end: await agent.end() };
  }

  it('stop when the user cancels, or when the answer belongs to another login', async () => {
    const { end } = await run(client, 'cancel');
    expect(end.code).not.toBe(0);
    expect(end.err).toContain('access_denied');
    for (const [name, value] of [
      ['state', 'another'],
      ['iss', 'https://other.example'],
    ] as const) {
      const foreign = await run(client, 'authorize', (cameTo) => cameTo.searchParams.set(name, value));
      expect(foreign.end.code).not.toBe(0);
      expect(foreign.end.err).toContain('another login');
    }
  });

  it.each(['confidential', 'public'] as const)(
    'find the service by the metadata of the resource, connect with PKCE and refresh as a %s client',
    async (type) => {
      const of = type === 'public' ? app : client;
      const { sent, end } = await run(of, 'authorize');
      const served = `The vehicles of ${user.id}`;
      expect({ ...end, lines: end.lines.slice(1) }).toEqual({ code: 0, err: '', lines: [served, served] });
      expect(Object.fromEntries(sent.searchParams)).toMatchObject({
        code_challenge_method: 'S256',
        resource: address,
      });
      expect(await newestGrantOf(service, of)).toEqual({ generation: 1, revoked: false });
    },
  );
});

describeUnless(lackingApache, 'The configuration on the page about mod_auth_openidc', () => {
  const REMEMBERS_LINE = /^.*OIDCOAuthTokenIntrospectionInterval.*$/m;
  let apache: Apache | undefined;
  let front: TlsFront | undefined;
  let ports: { shown: number; untilExpiry: number; never: number };

  beforeAll(async () => {
    const programs = await PagePrograms.of(service.http, '/docs/libraries/mod-auth-openidc');
    // The module insists on TLS for introspection.
    front = await TlsFront.start(service.url);
    const shown = programs.files.get('resource-server.conf')!.replaceAll(service.url, front.url);
    await programs.remove();
    expect(shown).toMatch(REMEMBERS_LINE);
    ports = { shown: await freePort(), untilExpiry: await freePort(), never: await freePort() };
    const sites = new Map([
      [ports.shown, shown],
      [ports.untilExpiry, shown.replace(REMEMBERS_LINE, '')],
      [ports.never, shown.replace(REMEMBERS_LINE, 'OIDCOAuthTokenIntrospectionInterval -1')],
    ]);
    const inspector = await service.make.operatorClient(['token:introspect']);
    apache = await Apache.start(sites, settingsOf(inspector), front.authority);
  });
  afterAll(async () => {
    await apache?.stop();
    front?.stop();
  });

  const ask = async (port: number, token?: string) =>
    (await fetch(`http://127.0.0.1:${port}/`, token ? { headers: { authorization: `Bearer ${token}` } } : {}))
      .status;

  it('refuses requests without a token, with a wrong one, and with one that lacks the scope', async () => {
    const narrow = await service.make.clientToken(client, 'charging_session:read');
    expect(await ask(ports.shown)).toBe(401);
    expect(await ask(ports.shown, `${narrow.slice(0, -4)}AAAA`)).toBe(401);
    expect(await ask(ports.shown, narrow)).toBe(401);
  });

  it('lets a valid token in; revoked, it is refused at once with -1, soon with the interval, and by default not before it expires', async () => {
    // The hosts share a memory, so each has a token of its own.
    const admitted = async (port: number) => {
      const token = await service.make.clientToken(client);
      expect(await ask(port, token)).toBe(200);
      expect((await revoke(service.http, client, token)).status).toBe(200);
      return token;
    };
    const kept = await admitted(ports.untilExpiry);
    expect(await ask(ports.never, await admitted(ports.never))).toBe(401);
    const soon = await admitted(ports.shown);
    await until('the interval has passed', async () => (await ask(ports.shown, soon)) === 401);
    expect(await ask(ports.untilExpiry, kept)).toBe(200);
  });
});

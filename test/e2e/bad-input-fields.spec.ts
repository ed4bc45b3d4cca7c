import { illegible } from '#platform/http/validation/legible-text.js';
import { authorizePath, BrowserSession } from '../support/browser-session.js';
import { newPkce, PASSWORD, REDIRECT_URI } from '../support/factory.js';
import { type HttpOptions, madeOnce, membersIn, useSharedService } from '../support/spec.js';
import { expectRefusal, rowCounts, unexpectedErrors } from '../support/refusals.js';

const MARKUP = '"><script>alert(1)</script>';
const ATTACKS = [
  "'; DROP TABLE users; --",
  "' OR '1'='1",
  '$1); DELETE FROM clients; --',
  MARKUP,
  '{{7*7}}${7*7}%s%n',
  '../../../etc/passwd',
  'a\r\nSet-Cookie: evil=1',
  '\u202etxt.exe',
];

type Fields = Record<string, string | undefined>;

let turn = 0;
/** Two of the attacks, and the next time the next ones; test/properties/endpoints.ts has them and others in any place. */
const nextAttacks = (): string[] => [turn++, turn + 2].map((n) => ATTACKS[n % ATTACKS.length]!);

/** Attacks in each of the fields, while the other fields are valid. */
const attacked = (base: Fields, fields: string[]): [string, Fields][] =>
  fields.flatMap((field) =>
    nextAttacks().map((attack): [string, Fields] => [field, { ...base, [field]: attack }]),
  );

describe('SQL and markup in fields', () => {
  const service = useSharedService();
  let credentials: Fields;
  let token: string;
  let admin: string;
  let userId: string;
  let browser: BrowserSession;
  let link: string;
  let before: Record<string, number>;

  const client = madeOnce(() => service.make.client());
  beforeAll(async () => {
    credentials = { client_id: client.id, client_secret: client.secret };
    token = await service.make.clientToken(client);
    admin = await service.make.adminToken();
    const user = await service.make.user();
    await service.make.consent(client, user);
    userId = user.id;
    browser = await service.make.signedIn(user);
    link = new URL((await send('/webhook_portal', { bearer: token })).json.url as string).pathname;
  });

  beforeEach(async () => (before = await rowCounts(service)));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const send = (path: string, options: HttpOptions = {}) => service.http.send(path, options);
  const path = (strings: TemplateStringsArray, attack: string) => strings.join(encodeURIComponent(attack));

  describe('are refused and not stored', () => {
    afterEach(async () => expect(await rowCounts(service)).toEqual(before));

    it('in every field of the token, revocation and introspection endpoints', async () => {
      const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT_URI };
      const requests: [string, Fields, string[]][] = [
        [
          '/o/token',
          { grant_type: 'client_credentials' },
          ['client_id', 'client_secret', 'grant_type', 'scope'],
        ],
        [
          '/o/token',
          { ...code, code_verifier: newPkce().verifier },
          ['code', 'redirect_uri', 'code_verifier'],
        ],
        ['/o/token', { grant_type: 'refresh_token', refresh_token: 'x' }, ['refresh_token', 'scope']],
        ['/o/revoke_token/', { token: 'x' }, ['client_id', 'client_secret']],
        ['/o/introspect', { token: 'x' }, ['client_id', 'client_secret', 'token', 'user_id']],
      ];
      for (const [address, base, fields] of requests) {
        for (const [field, form] of attacked({ ...base, ...credentials }, fields)) {
          const answer = await send(address, { form });
          expectRefusal(answer, `${address} ${field}`);
          expect(answer.json.error).toMatch(/^[a-z_]+$/);
        }
      }
    });

    it('in Basic credentials', async () => {
      for (const attack of ATTACKS) {
        for (const basic of [
          { id: attack, secret: client.secret },
          { id: client.id, secret: attack },
        ]) {
          expectRefusal(
            await send('/o/token', { form: { grant_type: 'client_credentials' }, basic }),
            attack,
          );
        }
      }
    });

    it('in every parameter of the authorization page', async () => {
      const pkce = { code_challenge: newPkce().challenge, code_challenge_method: 'S256' };
      const request = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI, ...pkce };
      for (const [field, query] of attacked(request, ['client_id', 'redirect_uri']))
        expectRefusal(await browser.open(authorizePath(query)), field);
      for (const [field, query] of attacked(request, [...Object.keys(pkce), 'response_type', 'scope'])) {
        const location = new URL((await browser.open(authorizePath(query))).headers.get('location')!);
        expect([field, location.origin + location.pathname]).toEqual([field, REDIRECT_URI]);
        expect(location.searchParams.get('error')).toMatch(/^[a-z_]+$/);
        expect(location.searchParams.get('error_description')).not.toMatch(/script|DROP|DELETE/);
      }
    });

    it('in every field of the consent form', async () => {
      const request = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI };
      const page = await browser.open(authorizePath(request));
      for (const [field, fields] of attacked({ decision: 'authorize' }, [
        'request',
        'decision',
        'csrf_token',
      ])) {
        expectRefusal(await browser.submit(page, '/o/authorize/', fields), field);
      }
    });

    it('in every field of the portal and password pages', async () => {
      const page = await browser.open(link);
      const forged = (attack: string) => ({ form: { csrf_token: attack } });
      for (const attack of ATTACKS) {
        const answers = [
          await browser.submit(page, link, { csrf_token: attack }),
          await browser.open(path`/portal/login/${attack}`),
          await browser.open(path`/password/${attack}`),
          await browser.open('/logout', forged(attack)),
        ];
        for (const answer of answers) expectRefusal(answer, attack);
      }
      for (const attack of nextAttacks()) {
        for (const address of [path`/portal/login/${attack}`, path`/password/${attack}`])
          expectRefusal(await browser.open(address, forged('x')), address);
      }
    });

    it('in every parameter of /v2/users', async () => {
      for (const [field, query] of attacked({}, ['page_size', 'page_after', 'page_before', 'other'])) {
        const answer = await send(
          `/v2/users?${new URLSearchParams(query as Record<string, string>).toString()}`,
          { bearer: token },
        );
        expectRefusal(answer, field);
        expect(Object.keys(answer.json.field_errors)).toEqual([field]);
      }
      for (const attack of ATTACKS) {
        expectRefusal(await send(path`/v2/users/${attack}`, { bearer: token }), attack);
        // Only text that a header may contain.
        if (!/^[\x20-\x7e]+$/.test(attack)) continue;
        expectRefusal(
          await send('/v2/users', { bearer: token, headers: { 'service-version': attack } }),
          attack,
        );
      }
    });

    const newUser = { email: 'new@mail.example', name: 'New' };
    const newClient = () => ({
      name: 'New',
      type: 'confidential',
      grant_types: ['client_credentials'],
      scopes: ['vehicle:read'],
      redirect_uris: [],
      owner_id: client.ownerId,
    });

    it('in every member that the admin API accepts, except free text', async () => {
      const lists = ['grant_types', 'scopes', 'redirect_uris'];
      /** Attacks in the shape that the member has, and one in each other. */
      const valuesFor = (member: string) => [
        ...(lists.includes(member)
          ? [...nextAttacks().map((attack) => [attack]), MARKUP]
          : [...nextAttacks(), [MARKUP]]),
        { [MARKUP]: MARKUP },
        { $ne: MARKUP },
      ];
      const consent = `/admin/clients/${client.id}/consents/${userId}`;
      const requests: [string, string, object, string[]][] = [
        ['POST', '/admin/users', newUser, ['email', 'kind', 'role', 'webhooks_enabled', 'other']],
        [
          'PATCH',
          `/admin/users/${userId}`,
          {},
          ['email', 'kind', 'role', 'webhooks_enabled', 'enabled', 'id'],
        ],
        [
          'POST',
          '/admin/clients',
          newClient(),
          ['type', 'grant_types', 'scopes', 'redirect_uris', 'owner_id'],
        ],
        [
          'POST',
          '/admin/clients',
          newClient(),
          ['rate_limit', 'company_service', 'client_id', 'client_secret'],
        ],
        [
          'PATCH',
          `/admin/clients/${client.id}`,
          {},
          ['redirect_uris', 'grant_types', 'rate_limit', 'enabled'],
        ],
        ['POST', `/admin/clients/${client.id}/secrets`, {}, ['expire_previous_in']],
        ['PUT', consent, { scopes: ['vehicle:read'] }, ['scopes']],
        ['PUT', '/admin/scopes/new', { description: 'New', audience: 'partner' }, ['audience', 'name']],
      ];
      for (const [method, address, base, members] of requests) {
        for (const member of members) {
          for (const value of valuesFor(member)) {
            const json = { ...base, [member]: value };
            expectRefusal(await send(address, { method, bearer: admin, json }), `${address} ${member}`);
          }
        }
      }
    });

    it('in every id and filter of the admin API, and a search for them finds nothing', async () => {
      const scope = { description: 'New', audience: 'partner' };
      const requests: [address: (attack: string) => string, options?: HttpOptions][] = [
        ...[(id: string) => path`/admin/users/${id}`, (id: string) => path`/admin/clients/${id}`].flatMap(
          (address): [typeof address, HttpOptions][] => [
            [address, {}],
            [address, { method: 'DELETE' }],
            [address, { method: 'PATCH', json: { name: 'X' } }],
          ],
        ),
        [(id) => path`/admin/grants/${id}`, { method: 'DELETE' }],
        [(id) => path`/admin/scopes/${id}`, { method: 'PUT', json: scope }],
        [(id) => path`/admin/grants?client_id=${id}`],
        [(id) => path`/admin/audit_events?since=${id}`],
      ];
      for (const [address, options] of requests) {
        for (const attack of nextAttacks())
          expectRefusal(await send(address(attack), { bearer: admin, ...options }), address(attack));
      }
      for (const filter of [
        'users?q',
        'clients?q',
        ...['actor', 'subject', 'action'].map((of) => `audit_events?${of}`),
      ]) {
        for (const attack of nextAttacks()) {
          const answer = await send(`/admin/${filter}=${encodeURIComponent(attack)}`, { bearer: admin });
          expect([filter, answer.status, answer.json]).toEqual([filter, 200, []]);
        }
      }
    });
  });

  it('sign nobody in, and the login page shows them as text', async () => {
    const stranger = new BrowserSession(service.url);
    const page = await stranger.open('/login');
    for (const [n, attack] of ATTACKS.entries()) {
      const nobody = `nobody${n}@mail.example`;
      for (const fields of [
        { email: attack, password: PASSWORD },
        { email: nobody, password: attack },
        { email: nobody, password: PASSWORD, csrf_token: attack },
      ]) {
        const answer = await stranger.submit(page, '/login', fields);
        expectRefusal(answer, JSON.stringify(fields));
        expect(answer.headers.getSetCookie()).toEqual([]);
        const typed = answer.html.querySelector('#email')?.getAttribute('value') ?? fields.email;
        expect(typed.replaceAll(/[\r\n]/g, '')).toBe(fields.email.replaceAll(/[\r\n]/g, ''));
      }
    }
    const { users, sessions } = await rowCounts(service);
    expect({ users, sessions }).toEqual({ users: before.users, sessions: before.sessions });
  });

  it('are stored unchanged in names and shown as text, unless they are illegible', async () => {
    const query = { response_type: 'code', redirect_uri: REDIRECT_URI };
    for (const [n, name] of ATTACKS.entries()) {
      const email = `${n}@names.example`;
      const user = await send('/admin/users', { bearer: admin, json: { email, name, password: PASSWORD } });
      if (illegible(name) !== undefined) {
        expect([user.status, membersIn(user)]).toEqual([400, ['name']]);
        continue;
      }
      expect([user.status, user.json.name]).toEqual([201, name]);
      const owned = await service.make.client({ name, ownerId: user.json.id as string });
      const person = new BrowserSession(service.url);
      await person.logIn(email, PASSWORD);
      const page = await person.open(authorizePath({ ...query, client_id: owned.id, state: name }));
      expect(page.status).toBe(200);
      expect(page.html.querySelector('h1 bdi')?.text).toBe(name);
      expect(page.text).not.toContain('<script');
      const back = await person.submit(page, '/o/authorize/', { decision: 'cancel' });
      expect(new URL(back.headers.get('location')!).searchParams.get('state')).toBe(name);
      expect(back.headers.has('set-cookie')).toBe(false);
    }
  });
});

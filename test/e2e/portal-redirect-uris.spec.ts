import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { BrowserSession, Page } from '../support/browser-session.js';
import { errorAt, postedAnew, REDIRECT_URI, wordsOf } from '../support/spec.js';
import { setUpOrganisation } from '../support/organisation.js';

const PATH = '/portal/redirect-uris';
const REMOVE = `${PATH}/remove`;
const CONSOLE = '/admin/console/redirect-uris';
const API = '/admin/redirect_uri_requests';
const URI = 'https://partner.example/callback';

describe('Redirect URIs that a partner asks for', () => {
  const own = setUpOrganisation();
  const { service, smtp, inPortal, member } = own;
  let { owner, client } = own;
  let browser: BrowserSession;
  let bearer: string;
  beforeAll(async () => (bearer = await service.make.adminToken()));
  beforeEach(async () => {
    ({ owner, client } = own);
    browser = await inPortal(owner);
  });

  const ask = async (uri = URI): Promise<Page> => browser.fillIn(PATH, { uri });
  const askToRemove = async (uri = REDIRECT_URI): Promise<Page> => {
    return browser.submit(await browser.open(PATH), REMOVE, { uri });
  };
  const asked = async (): Promise<string> => {
    const [row] = await service.database.query<{ id: string }>(
      'SELECT id FROM redirect_uri_requests WHERE client_id = $1 ORDER BY id DESC LIMIT 1',
      [client.id],
    );
    return row!.id;
  };
  const registered = async (): Promise<string[]> =>
    (await service.app.get(ClientsService).get(client.id)).redirectUris;
  const decide = (id: string, what: 'approve' | 'reject', json?: object) =>
    service.http.send(`${API}/${id}/${what}`, { method: 'POST', bearer, ...(json ? { json } : {}) });

  it('change nothing until an operator approves them, who is told in the console', async () => {
    expect((await ask()).headers.get('location')).toBe(PATH);
    expect(rowOf(await browser.open(PATH))).toMatch(/partner\.example\/callback.*to register.*Waiting/);
    expect(await registered()).toEqual([REDIRECT_URI]);
    const operator = await service.make.signedIn(await service.make.user({ role: 'operator' }));
    expect(wordsOf(await operator.open('/admin/console'))).toMatch(/redirect URI/);
    expect(wordsOf(await operator.open(`${CONSOLE}?state=pending&client_id=${client.id}`))).toContain(URI);
    const path = `${CONSOLE}/${await asked()}`;
    const page = await operator.open(path);
    expect((await operator.submit(page, `${path}/approve`)).headers.get('location')).toBe(path);
    expect(await registered()).toEqual([REDIRECT_URI, URI]);
    expect((await operator.submit(page, `${path}/approve`, postedAnew())).status).toBe(409);
    expect((await operator.submit(page, `${path}/reject`)).status).toBe(409);
    expect(rowOf(await browser.open(PATH))).toContain('Approved');
    const events = await service.database.query<{ action: string }>(
      "SELECT action FROM audit_events WHERE subject_id = ANY ($1) AND action ~ '^(redirect|client.updated)' ORDER BY id",
      [[await asked(), client.id]],
    );
    expect(events.map(({ action }) => action)).toEqual([
      'redirect_uri_request.asked',
      'client.updated',
      'redirect_uri_request.approved',
    ]);
  });

  it('are registered at once for a client in a sandbox, by the service', async () => {
    client = await service.make.client({ ownerId: owner.id, environment: 'sandbox' });
    expect(wordsOf(await browser.open(PATH))).toContain('An operator looks at every change');
    browser = await inPortal(owner, client);
    expect(wordsOf(await browser.open(PATH))).not.toContain('An operator looks');
    expect((await ask()).status).toBe(303);
    expect(await registered()).toEqual([REDIRECT_URI, URI]);
    expect(rowOf(await browser.open(PATH))).toContain('Approved');
    const [row] = await service.database.query<{ state: string; by: string }>(
      'SELECT state, decided_by_type AS by FROM redirect_uri_requests WHERE client_id = $1',
      [client.id],
    );
    expect(row).toEqual({ state: 'approved', by: 'service' });
    expect((await askToRemove()).status).toBe(303);
    expect(await registered()).toEqual([URI]);
  });

  it('are removed in the same way, but not the last one', async () => {
    expect((await askToRemove()).status).toBe(409);
    await service.app
      .get(ClientsService)
      .update(client.id, { redirectUris: [REDIRECT_URI, URI] }, SERVICE_ACTOR);
    expect((await askToRemove()).status).toBe(303);
    expect(wordsOf(await browser.open(PATH))).toContain('Removal waits');
    expect((await decide(await asked(), 'approve')).status).toBe(200);
    expect(await registered()).toEqual([URI]);
  });

  it('tell the members who are admins of the decision, with the reason', async () => {
    const [admin, developer] = [await member('admin'), await member('developer')];
    await ask();
    const reason = 'This host is not yours.';
    expect((await decide(await asked(), 'reject', { reason })).json).toMatchObject({
      state: 'rejected',
      reason,
      uri: URI,
      action: 'add',
      client_id: client.id,
      requested_by: owner.id,
      decided_by: { type: 'client' },
    });
    expect(rowOf(await browser.open(PATH))).toContain(reason);
    await ask();
    await decide(await asked(), 'approve');
    const told = await service.database.query<{ user_id: string; message_id: string }>(
      "SELECT user_id, message_id FROM notifications WHERE message_id IN ('ERR2902', 'ERR2903') AND user_id = ANY ($1)",
      [[owner.id, admin.id, developer.id]],
    );
    const one = (user: UserEntity) =>
      told.filter(({ user_id }) => user_id === user.id).map((row) => row.message_id);
    expect([one(owner).sort(), one(admin).sort(), one(developer)]).toEqual([
      ['ERR2902', 'ERR2903'],
      ['ERR2902', 'ERR2903'],
      [],
    ]);
    // In any order: one says that the admin is a member.
    await smtp.mailTo(admin.email, 3);
    expect(smtp.to(admin.email).map(({ subject, text }) => [subject, text.includes(reason)])).toEqual(
      expect.arrayContaining([
        ['A request about a redirect URI was rejected', true],
        ['A redirect URI was registered', false],
      ]),
    );
  });

  it.each([
    // test/unit/redirect-uri.spec.ts has every URI that is refused.
    ['com.example.app:/callback', 'must be https'],
    ['https://partner.example/*', 'must not contain a wildcard'],
    ['', 'must be a plain ASCII URI'],
  ])('are refused when asked for, if they may not be registered: %s', async (uri, why) => {
    const refused = await ask(uri);
    expect([refused.status, errorAt(refused, 'uri')]).toEqual([400, expect.stringContaining(why)]);
  });

  it('are refused if they are there, wait already, or are too many', async () => {
    expect((await ask(REDIRECT_URI)).status).toBe(409);
    const page = await browser.open(PATH);
    const twice = await Promise.all(
      [1, 2, 3].map(() => browser.submit(page, PATH, { uri: URI, ...postedAnew() })),
    );
    expect(twice.map(({ status }) => status).sort()).toEqual([303, 409, 409]);
    const more = await Promise.all(
      Array.from({ length: 12 }, (_each, n) => browser.submit(page, PATH, { uri: `${URI}/${n}` })),
    );
    expect(more.filter(({ status }) => status === 303)).toHaveLength(9);
    expect(wordsOf(more.find(({ status }) => status === 409)!)).toContain('At most 10 requests can wait');
    expect((await browser.submit(page, REMOVE, { uri: 'https://unknown.example/' })).status).toBe(409);
    const many = Array.from({ length: 20 }, (_each, n) => `https://app.example/${n}`);
    await service.app.get(ClientsService).update(client.id, { redirectUris: many }, SERVICE_ACTOR);
    await service.database.query('DELETE FROM redirect_uri_requests WHERE client_id = $1', [client.id]);
    expect((await ask()).status).toBe(409);
  });

  it('are checked again when approved: what became impossible stays pending', async () => {
    await ask();
    await service.app.get(ClientsService).update(client.id, { redirectUris: [URI] }, SERVICE_ACTOR);
    const refused = await decide(await asked(), 'approve');
    expect([refused.status, refused.json.detail]).toEqual([409, 'This URI is registered already.']);
    expect(rowOf(await browser.open(PATH))).toContain('Waiting');
  });

  it('are decided once, whoever decides at the same moment', async () => {
    await ask();
    const id = await asked();
    const answers = await Promise.all(
      (['approve', 'reject', 'approve', 'reject'] as const).map((what) => decide(id, what)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const approved = answers.find(({ status }) => status === 200)!.json.state === 'approved';
    expect(await registered()).toEqual(approved ? [REDIRECT_URI, URI] : [REDIRECT_URI]);
  });

  it('are asked for by admins alone, and decided by operators with the role admin', async () => {
    const developer = await inPortal(await member('developer'));
    expect((await developer.open(PATH)).html.querySelector(`form[action="${PATH}"]`)).toBeNull();
    for (const path of [PATH, REMOVE]) {
      const forced = await developer.open(path, { form: { uri: URI }, headers: { origin: service.url } });
      expect(forced.status).toBe(403);
    }
    await ask();
    const path = `${CONSOLE}/${await asked()}`;
    for (const operatorRole of ['viewer', 'support'] as const) {
      const operator = await service.make.user({ role: 'operator', operatorRole });
      const console = await service.make.signedIn(operator);
      const page = await console.open(path);
      expect([page.status, page.html.querySelector(`form[action="${path}/approve"]`)]).toEqual([200, null]);
      const forced = await console.open(`${path}/approve`, { form: {}, headers: { origin: service.url } });
      expect(forced.status).toBe(403);
      const weak = await service.make.client({
        scopes: ['admin:read', 'admin:write'],
        grantTypes: ['client_credentials'],
        redirectUris: [],
        ownerId: operator.id,
      });
      const own = { method: 'POST', bearer: await service.make.clientToken(weak) };
      expect((await service.http.send(`${API}/${await asked()}/approve`, own)).status).toBe(403);
    }
  });

  it('are listed for programs, filtered, and refused with a reason', async () => {
    await ask();
    const get = (query: string) => service.http.get(`${API}?${query}`, { bearer });
    const found = await get(`state=pending&client_id=${client.id}`);
    expect(found.json).toEqual([
      {
        id: await asked(),
        client_id: client.id,
        action: 'add',
        uri: URI,
        state: 'pending',
        reason: null,
        requested_by: owner.id,
        requested_at: expect.any(String),
        decided_by: null,
        decided_at: null,
      },
    ]);
    expect((await get(`state=approved&client_id=${client.id}`)).json).toEqual([]);
    expect((await get('state=maybe')).status).toBe(400);
    for (const what of ['approve', 'reject'] as const)
      expect((await decide('ruri01HN2NJ9NMRZBXT1H6FT9N7735', what)).status).toBe(404);
    const refused = await decide(await asked(), 'reject', { reason: 'x'.repeat(301) });
    expect([refused.status, Object.keys(refused.json.field_errors as object)]).toEqual([400, ['reason']]);
  });
});

const rowOf = (page: Page): string => page.html.querySelector('main tbody tr')!.text.replace(/\s+/g, ' ');

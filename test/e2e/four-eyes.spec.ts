import { newKey } from '../support/client-keys.js';
import {
  decide as decideInConsole,
  makeAdmin as makeAnAdmin,
  type AdminInPerson,
} from '../support/admins.js';
import { BrowserSession } from '../support/browser-session.js';
import { CONSOLE } from '../support/console.js';
import { PASSWORD, type TestClient } from '../support/factory.js';
import type { Answer } from '../support/http.js';
import { madeForEach } from '../support/made.js';
import { wordsOf } from '../support/portal.js';
import { rowCounts } from '../support/refusals.js';
import { addApp, addPasskey, givePassword, logInWith } from '../support/second-factors.js';
import { purgeOnly } from '../support/scheduled-work.js';
import { PATIENT, useService } from '../support/test-service.js';

const ADMIN_SCOPES = ['admin:read', 'admin:write'];

const service = useService({ databaseOptions: PATIENT, env: { FOUR_EYES: 'true' } });
/** Two admins with a client each. */
let [anna, ben]: AdminInPerson[] = [];

beforeAll(async () => {
  [anna, ben] = [await makeAnAdmin(service, 'Anna'), await makeAnAdmin(service, 'Ben')];
});

describe('With FOUR_EYES=true, one admin alone', () => {
  const other = madeForEach(() => service.make.user({ role: 'operator', name: 'Olga Other' }));
  let counter = 0;

  const send = (method: string, path: string, json?: object, bearer = anna!.bearer): Promise<Answer> =>
    service.http.send(path, { method, bearer, json });
  const members = (more: object = {}) => ({
    name: `Robot ${++counter}`,
    type: 'confidential',
    grant_types: ['client_credentials'],
    scopes: ADMIN_SCOPES,
    owner_id: anna!.user.id,
    ...more,
  });
  const adminClient = (ownerId = anna!.user.id): Promise<TestClient> =>
    service.make.client({
      ownerId,
      scopes: ADMIN_SCOPES,
      grantTypes: ['client_credentials'],
      redirectUris: [],
    });
  /** Everything but the requests themselves. */
  const everything = async () => {
    const { approvals, audit_events, ...counts } = await rowCounts(service);
    void [approvals, audit_events];
    const [users, clients] = [
      await service.database.query(
        'SELECT id, email, email_verified_at, password_hash, operator_role, enabled FROM users ORDER BY id',
      ),
      await service.database.query('SELECT id, enabled, company_service, jwks FROM clients ORDER BY id'),
    ];
    return { counts, users, clients };
  };
  const userOf = async (id: string) => (await send('GET', `/admin/users/${id}`)).json;

  it('cannot approve with a client: neither their own nor another’s, nor a service of the company', async () => {
    const asked = await send('DELETE', `/admin/users/${(await service.make.user()).id}`);
    expect(asked.status).toBe(202);
    for (const bearer of [anna!.bearer, ben!.bearer, await service.make.adminToken()]) {
      const answer = await send(
        'POST',
        `/admin/approvals/${asked.json.id as string}/approve`,
        undefined,
        bearer,
      );
      expect([answer.status, answer.json.detail]).toEqual([403, 'Only a person approves, in the console.']);
    }
  });

  it('cannot stand for two: what a client asked for needs two persons, whoever owns it', async () => {
    // That of the first who approves is in the table below.
    for (const bearer of [ben!.bearer, await service.make.adminToken()]) {
      const user = await service.make.user();
      const asked = await send('DELETE', `/admin/users/${user.id}`, undefined, bearer);
      const first = await decideInConsole(anna!, asked.json.id);
      expect([first.status, first.said]).toEqual([
        200,
        'You are responsible for this request now. A second admin has to approve it too.',
      ]);
      expect((await userOf(user.id)).id).toBe(user.id);
      const again = await decideInConsole(anna!, asked.json.id);
      expect([again.status, again.said]).toEqual([403, expect.stringContaining('you cannot approve it')]);
      expect((await decideInConsole(ben!, asked.json.id)).said).toBe('Approved and carried out.');
      expect((await send('GET', `/admin/users/${user.id}`)).status).toBe(404);
    }
  });

  it('cannot approve in a session with a password alone', async () => {
    const plain = await service.make.user({ role: 'operator', name: 'Without Factor' });
    const browser = await service.make.signedIn(plain);
    const user = await service.make.user();
    const path = `${CONSOLE}/users/${user.id}/erase`;
    const asked = await anna!.browser.submit(await anna!.browser.open(path), path);
    const approval = asked.headers.get('location')!;
    const page = await browser.open(approval);
    expect(wordsOf(page)).toContain('a session in which you gave a second factor');
    expect(page.html.querySelector(`form[action="${approval}/approve"]`)).toBeNull();
    // The form of a session that had the factor when it was shown.
    await addApp(browser);
    const shown = await browser.open(approval);
    await service.database.query('UPDATE sessions SET second_factor = false WHERE user_id = $1', [plain.id]);
    expect((await browser.submit(shown, `${approval}/approve`)).status).toBe(403);
    expect((await userOf(user.id)).id).toBe(user.id);
    const step = new BrowserSession(service.url);
    expect((await givePassword(step, ben!.user)).headers.get('location')).toContain('/login/second-factor');
    const fresh = await service.make.signedIn(await service.make.user({ role: 'operator' }));
    const { passkey } = await addPasskey(fresh, service.url);
    const withPasskey = new BrowserSession(service.url);
    await logInWith(passkey, withPasskey);
    const done = await withPasskey.submit(await withPasskey.open(approval), `${approval}/approve`);
    expect([done.status, done.headers.get('location')]).toEqual([303, approval]);
  });

  describe('makes nobody an admin and takes over no operator: it waits', () => {
    const cases: [string, () => Promise<[string, string, object?]>][] = [
      ['a password', async () => ['PATCH', `/admin/users/${other.id}`, { password: 'a password of mine' }]],
      [
        'an address',
        async () => ['PATCH', `/admin/users/${other.id}`, { email: `x${++counter}@mail.example` }],
      ],
      ['a word for the address', async () => ['PATCH', `/admin/users/${other.id}`, { email_verified: true }]],
      [
        'a word against the address',
        async () => {
          await service.make.updateUser(other, { emailVerified: true });
          return ['PATCH', `/admin/users/${other.id}`, { email_verified: false }];
        },
      ],
      ['a lower role', async () => ['PATCH', `/admin/users/${other.id}`, { operator_role: 'support' }]],
      ['no role', async () => ['PATCH', `/admin/users/${other.id}`, { role: 'user' }]],
      ['a link for the password', async () => ['POST', `/admin/users/${other.id}/password_links`]],
      [
        'no second factor',
        async () => {
          await addApp(await service.make.signedIn(other));
          return ['DELETE', `/admin/users/${other.id}/second_factor`];
        },
      ],
      [
        'no link to a provider',
        async () => {
          await service.database.query(
            "INSERT INTO identities (issuer, subject, user_id, provider) VALUES ('https://idp.example', $1, $1, 'company')",
            [other.id],
          );
          return ['DELETE', `/admin/users/${other.id}/identities/company`];
        },
      ],
      [
        'a disabled account enabled',
        async () => {
          await service.make.setEnabled(other, false);
          return ['PATCH', `/admin/users/${other.id}`, { enabled: true }];
        },
      ],
      ['a client of the admin API', async () => ['POST', '/admin/clients', members()]],
      [
        'a company service in the admin API',
        async () => {
          const { id } = await service.make.user({ kind: 'organisation' });
          return ['POST', '/admin/clients', members({ owner_id: id, company_service: true })];
        },
      ],
      [
        'a secret of a client of the admin API',
        async () => ['POST', `/admin/clients/${(await adminClient(ben!.user.id)).id}/secrets`],
      ],
      [
        'a client of the admin API enabled',
        async () => {
          const { id } = await adminClient();
          await send('PATCH', `/admin/clients/${id}`, { enabled: false });
          return ['PATCH', `/admin/clients/${id}`, { enabled: true }];
        },
      ],
      [
        'keys for a client of the admin API',
        async () => [
          'PATCH',
          `/admin/clients/${(await adminClient(ben!.user.id)).id}`,
          {
            token_endpoint_auth_method: 'private_key_jwt',
            jwks: { keys: [(await newKey()).publicJwk] },
          },
        ],
      ],
      [
        'a mark that no role limits a client',
        async () => ['PATCH', `/admin/clients/${(await adminClient()).id}`, { company_service: true }],
      ],
    ];

    it.each(cases)('another operator gets %s, or the company', async (_what, request) => {
      const [method, path, json] = await request();
      const before = await everything();
      const asked = await send(method, path, json);
      expect([asked.status, asked.json.state]).toEqual([202, 'pending']);
      expect(await everything()).toEqual(before);
      expect(JSON.stringify(asked.json)).not.toContain('argon2');
      // Two persons later it is done.
      const approval = `${CONSOLE}/approvals/${asked.json.id as string}`;
      const approve = async ({ browser }: AdminInPerson) =>
        (await browser.submit(await browser.open(approval), `${approval}/approve`)).status;
      expect(await approve(anna!)).toBe(303);
      expect(await everything()).toEqual(before);
      expect(await approve(ben!)).toBe(303);
      expect(await everything()).not.toEqual(before);
    });

    it('also in the console, and for whoever stands behind a client of the admin API', async () => {
      const organisation = await service.make.user({ kind: 'organisation' });
      await adminClient(organisation.id);
      for (const { id } of [other, organisation]) {
        const path = `${CONSOLE}/users/${id}`;
        const page = await anna!.browser.open(path);
        const asked = await anna!.browser.submit(page, `${path}/password-link`);
        expect(asked.headers.get('location')).toMatch(/\/approvals\/appr/);
        const approved = await decideInConsole(ben!, asked.headers.get('location')!.split('/').at(-1));
        expect(approved.answer.text).toMatch(/\/password\/\w+/);
      }
      const edit = `${CONSOLE}/users/${other.id}/edit`;
      const changed = await anna!.browser.submit(await anna!.browser.open(edit), edit, {
        email: `console${++counter}@mail.example`,
      });
      expect(changed.headers.get('location')).toMatch(/\/approvals\/appr/);
    });

    it('shows the secret of a new client to whoever approves, once, and it works only then', async () => {
      const path = `${CONSOLE}/clients/new`;
      const asked = await anna!.browser.submit(await anna!.browser.open(path), path, {
        name: `Robot ${++counter}`,
        owner: anna!.user.id,
        grant_types: 'client_credentials',
        scopes: ADMIN_SCOPES,
      });
      const id = asked.headers.get('location')!.split('/').at(-1)!;
      const shown = await ben!.browser.open(asked.headers.get('location')!);
      expect(wordsOf(shown)).toContain('admin:write');
      const heads = shown.html.querySelectorAll('dl.facts dt').map(({ text }) => text);
      expect(heads).toEqual(expect.arrayContaining(['Organisation', 'Privacy policy', 'Optional scopes']));
      expect(heads.filter((head) => !/^[A-Z]/.test(head))).toEqual([]);
      expect(shown.html.querySelectorAll('dl.facts dd').map(({ text }) => text)).not.toContain('null');
      const approved = await decideInConsole(ben!, id);
      const clientId = /clnt\w{26}/.exec(approved.answer.text)![0];
      const secret = approved.answer.html.querySelectorAll('code').at(-1)!.text;
      const token = await service.http.token({ grant_type: 'client_credentials' }, { id: clientId, secret });
      expect(token.status).toBe(200);
    });
  });

  it('does at once what gives nobody power: names, disabling, revoking, clients of partners, one’s own account', async () => {
    const steps: [string, string, object | undefined, number][] = [
      ['PATCH', `/admin/users/${other.id}`, { name: 'Olga' }, 200],
      ['PATCH', `/admin/users/${other.id}`, { enabled: false }, 200],
      ['POST', `/admin/users/${other.id}/revoke_tokens`, undefined, 200],
      ['POST', `/admin/clients/${(await service.make.client()).id}/secrets`, {}, 201],
      ['POST', `/admin/users/${(await service.make.user()).id}/password_links`, undefined, 201],
      ['PATCH', `/admin/clients/${(await adminClient()).id}`, { enabled: false }, 200],
    ];
    for (const [method, path, json, status] of steps)
      expect([path, (await send(method, path, json)).status]).toEqual([path, status]);
    const edit = `${CONSOLE}/users/${anna!.user.id}/edit`;
    const own = await anna!.browser.submit(await anna!.browser.open(edit), edit, { name: 'Anna herself' });
    expect(own.headers.get('location')).toBe(`${CONSOLE}/users/${anna!.user.id}`);
    // With a client it is not known who it is.
    expect((await send('PATCH', `/admin/users/${anna!.user.id}`, { password: PASSWORD })).status).toBe(202);
  });

  it('asks for one thing at a time, and says which of two waits', async () => {
    const path = `/admin/users/${other.id}`;
    const mixed = await send('PATCH', path, { email: `y${++counter}@mail.example`, name: 'X' });
    expect([mixed.status, mixed.json.detail]).toEqual([409, expect.stringContaining('change it alone')]);
    const asked = await send('PATCH', path, { operator_role: 'viewer' });
    expect(asked.json).toMatchObject({ action: 'user.update', details: { operator_role: 'viewer' } });
    expect((await send('PATCH', path, { operator_role: 'viewer' })).json.id).toBe(asked.json.id);
    const differs = await send('PATCH', path, { operator_role: 'support' });
    expect([differs.status, differs.json.detail]).toEqual([
      409,
      expect.stringContaining(asked.json.id as string),
    ]);
  });

  it('erases nobody who is the last admin: that is refused and not queued', async () => {
    const enabled = await service.database.query<{ id: string }>(
      "SELECT id FROM users WHERE operator_role = 'admin' AND enabled",
    );
    await service.database.query("UPDATE users SET enabled = false WHERE operator_role = 'admin'");
    await service.database.query('UPDATE users SET enabled = true WHERE id = $1', [other.id]);
    const company = await service.make.adminToken();
    const answer = await send('DELETE', `/admin/users/${other.id}`, undefined, company);
    await service.database.query('UPDATE users SET enabled = true WHERE id = ANY ($1)', [
      enabled.map(({ id }) => id),
    ]);
    expect([answer.status, answer.json.detail]).toEqual([409, expect.stringContaining('last enabled admin')]);
    const waiting = await service.database.query('SELECT 1 FROM approvals WHERE subject_id = $1', [other.id]);
    expect(waiting).toEqual([]);
  });

  it('is not followed by the others once they are no longer an admin', async () => {
    const former = await makeAnAdmin(service, 'Former');
    const [first, second] = [await service.make.user(), await service.make.user()];
    const path = `${CONSOLE}/users/${first.id}/erase`;
    const byPerson = await former.browser.submit(await former.browser.open(path), path);
    const byClient = await send('DELETE', `/admin/users/${second.id}`, undefined, former.bearer);
    await decideInConsole(anna!, byClient.json.id);
    await service.database.query(
      "UPDATE users SET role = 'operator', operator_role = 'viewer' WHERE id = $1",
      [former.user.id],
    );
    for (const id of [byPerson.headers.get('location')!.split('/').at(-1), byClient.json.id as string]) {
      const answer = await decideInConsole(ben!, id);
      expect([answer.status, answer.said]).toEqual([
        409,
        expect.stringContaining('The person who asked for this is no longer an admin'),
      ]);
      expect((await decideInConsole(ben!, id, 'reject')).status).toBe(200);
    }
    expect((await userOf(first.id)).id).toBe(first.id);
  });

  it('makes nobody an admin whose address changes after that was asked for', async () => {
    const user = await service.make.user();
    const asked = await send('PATCH', `/admin/users/${user.id}`, {
      role: 'operator',
      operator_role: 'admin',
    });
    expect(asked.json.details).toEqual({ email: user.email });
    await decideInConsole(anna!, asked.json.id);
    await send('PATCH', `/admin/users/${user.id}`, { email: `anna-too${++counter}@mail.example` });
    const answer = await decideInConsole(ben!, asked.json.id);
    expect([answer.status, answer.said]).toEqual([409, expect.stringContaining('another email address')]);
    expect((await userOf(user.id)).role).toBe('user');
  });

  it('keeps no password of a request that nobody decides in time', async () => {
    const asked = await send('PATCH', `/admin/users/${other.id}`, { password: 'a password of mine' });
    const second = await service.make.user({ role: 'operator', name: 'Sven Second' });
    const waiting = await send('PATCH', `/admin/users/${second.id}`, { password: 'a password of mine' });
    await service.database.query(
      "UPDATE approvals SET expires_at = now() - interval '1 second' WHERE id = $1",
      [asked.json.id],
    );
    await purgeOnly(service, 'approvals');
    const kept = await service.database.query<{ id: string }>(
      "SELECT id FROM approvals WHERE id IN ($1, $2) AND jsonb_exists(details, 'password_hash')",
      [asked.json.id, waiting.json.id],
    );
    expect(kept).toEqual([{ id: waiting.json.id }]);
    const [expired] = (await send('GET', '/admin/approvals?state=expired')).json as object[];
    expect(expired).toMatchObject({ id: asked.json.id, details: {}, state: 'expired' });
    await decideInConsole(ben!, waiting.json.id, 'reject');
  });

  it('keeps no password of a request that is decided, and nothing of an erased person', async () => {
    const asked = await send('PATCH', `/admin/users/${other.id}`, { password: 'a password of mine' });
    expect(asked.json.details).toEqual({ password: 'a new one' });
    await decideInConsole(ben!, asked.json.id, 'reject');
    const details = async () =>
      (await service.database.query('SELECT details FROM approvals WHERE id = $1', [asked.json.id]))[0];
    expect(await details()).toEqual({ details: {} });
    const address = await send('PATCH', `/admin/users/${other.id}`, { email: `z${++counter}@mail.example` });
    const erasing = await send('DELETE', `/admin/users/${other.id}`);
    await decideInConsole(anna!, erasing.json.id);
    expect((await decideInConsole(ben!, erasing.json.id)).status).toBe(200);
    const [left] = await service.database.query('SELECT details FROM approvals WHERE id = $1', [
      address.json.id,
    ]);
    expect(left).toEqual({ details: null });
  });
});

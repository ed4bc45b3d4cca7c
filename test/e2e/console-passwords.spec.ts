import type { FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '#platform/secrets/ids.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { type Page, PASSWORD, placeOf, rowCounts, useService } from '../support/spec.js';
import { CONSOLE, pathWith, seedDecisions, type Fields } from '../support/console.js';
import { consoleRoutes } from '../support/console-routes.js';
import { MAIL_ENV } from '../support/mail-server.js';
import { makeEndpoint, seedDelivery, wordsOf, type SeededDelivery } from '../support/portal.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { showLogo } from '../support/uploads.js';

const POSTS = consoleRoutes()
  .filter(({ method }) => method === 'POST')
  .map(({ path }) => path.slice(CONSOLE.length));

/** How a test sends a form. */
interface Sent {
  /** The page that contains the form. Defaults to the same path. */
  from?: string;
  fields?: Fields;
}

/**
 * Forms that require a recent password (given at most 15 minutes ago): they give power or a secret, or end something for good.
 */
const ASKING: Record<string, Sent> = {
  // People trust what stands under the name of the company: whom they ask for help, and what they read about privacy.
  '/brand/edit': { fields: { name: 'Another', support_email: 'thief@evil.example' } },
  '/brand/logo': {},
  '/brand/logo/remove': { from: '/brand/logo' },
  // A new client holds a secret, and can receive data of users.
  '/clients/new': {
    fields: {
      name: 'Made by a thief',
      owner: 'OWNER',
      scopes: ['vehicle:read'],
      grant_types: ['client_credentials'],
    },
  },
  // Codes go to redirect URIs.
  '/clients/:client_id/edit': { fields: { redirect_uris: 'https://evil.example/callback' } },
  // It shows a secret.
  '/clients/:client_id/secret': { fields: { expire_previous_in: '3600' } },
  // It ends every token, as revoking does.
  '/clients/:client_id/disable': {},
  // Clients are disabled when someone has access that they should not have.
  '/clients/:client_id/enable': { from: '/clients/:client_id' },
  '/clients/:client_id/revoke': {},
  '/clients/:client_id/delete': {},
  // It gives a client the data of a user.
  '/clients/:client_id/consents/new': { fields: { user: 'USER', scopes: ['charging_session:read'] } },
  // These end grants and tokens for good.
  '/clients/:client_id/consents/:user_id/disconnect': {},
  '/users/:id/applications/:client_id/disconnect': {},
  '/grants/:id/revoke': { from: '/clients/:client_id/grants' },
  // An email address identifies the account; a password link gives access to it.
  '/users/:id/edit': { fields: { email: 'thief@evil.example' } },
  '/users/:id/password-link': { from: '/users/:id' },
  '/users/:id/disable': {},
  '/users/:id/enable': { from: '/users/:id' },
  '/users/:id/revoke': {},
  '/users/:id/make-operator': {},
  '/users/:id/remove-operator': {},
  // Whoever knows the password can then log in.
  '/users/:id/reset-second-factor': {},
  // It ends sessions, and the person cannot log in that way.
  '/users/:id/identities/:provider/remove': {},
  '/users/:id/erase': {},
  // An operator opens the console.
  '/users/invitations/new': { fields: { email: 'thief@evil.example', role: 'admin' } },
  // A member opens the portals of the organisation.
  '/users/:id/members/new': { fields: { user: 'OWNER', role: 'admin' } },
  '/users/:id/members/:user_id/remove': {},
  // Codes go to redirect URIs.
  '/redirect-uris/:id/approve': { from: '/redirect-uris/:id' },
  '/redirect-uris/:id/reject': { from: '/redirect-uris/:id' },
  // A second admin carries out, or gives up, what the first asked for.
  '/approvals/:id/approve': { from: '/approvals/:id' },
  '/approvals/:id/reject': { from: '/approvals/:id' },
  // The description is what users read when they agree; the audience decides who may hold the scope.
  '/scopes/new': { fields: { name: 'a:scope', description: 'Nothing at all' } },
  '/scopes/:name/edit': { fields: { description: 'Nothing at all' } },
  // The words are what users read when they agree.
  '/purposes/new': { fields: { name: 'a_purpose', 'words.en': 'To do anything' } },
  '/purposes/:purpose/edit': { fields: { 'words.en': 'To do anything' } },
  '/purposes/:purpose/delete': {},
  // The scope decides who receives the events; the schema which events are accepted.
  '/event-types/new': {
    fields: { name: 'vehicle.lost', description: 'Lost', scope: 'vehicle:read', sample: '{"id":"1"}' },
  },
  '/event-types/:type/edit': { fields: { description: 'Nothing at all' } },
  '/event-types/:type/versions/:version': { fields: { schema: '{"type":"object"}' } },
  // The URL decides where users' data is sent; the secret signs it.
  '/clients/:client_id/endpoints/new': {
    fields: { url: 'http://127.0.0.1:9/evil', event_types: ['vehicle.updated'] },
  },
  '/endpoints/:id/edit': { fields: { url: 'http://127.0.0.1:9/evil' } },
  '/endpoints/:id/enable': { from: '/endpoints/:id' },
  '/endpoints/:id/delete': {},
};

/** Forms that do not require a recent password, and why. */
const NOT_ASKING: Record<string, Sent & { because: string }> = {
  '/confirm-password': { because: 'this is where the password is entered', fields: { password: PASSWORD } },
  '/users/new': {
    because: 'a new user has neither a password nor a role, and the forms that give them ask',
    fields: { email: 'new@mail.example', name: 'New' },
  },
  '/users/invitations/withdraw/:id': {
    because: 'the person can be invited again',
    from: '/users/invitations',
  },
  '/clients/:client_id/logo': { because: 'a logo gives nobody access, as a name does not' },
  '/clients/:client_id/logo/remove': {
    because: 'it can be uploaded again',
    from: '/clients/:client_id/logo',
  },
  '/endpoints/:id/disable': {
    because: 'the endpoint can be enabled again, and missed deliveries can be resent',
    from: '/endpoints/:id',
  },
  '/deliveries/:id/resend': {
    because: 'the same payload goes to the same endpoint, and consent is checked again',
    from: '/deliveries/:id',
  },
  '/notifications/new': {
    because: 'it informs a user, and gives nobody access',
    fields: {
      user_id: 'USER',
      message_id: 'ERR1',
      category: 'SERVICE',
      short_text_title: 'A title',
      short_text_body: 'A text',
    },
  },
};

/** Changes that give no power, such as a client's name, by forms that otherwise require a recent password. */
const HARMLESS: Record<string, Fields> = {
  '/clients/:client_id/edit': { name: 'Another name', rate_limit: '7', redirect_uris: '' },
  '/users/:id/edit': { name: 'Another name' },
  '/endpoints/:id/edit': { description: 'Another description' },
};

describe('When the password was given more than 15 minutes ago, a form of the console', () => {
  const service = useService({ env: { ...MAIL_ENV, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });
  // What a form may end or give up is made for each; whom it does not touch, once. So is who sends the forms.
  const owner = madeOnce(() => service.make.user({ kind: 'organisation' }));
  const other = madeOnce(() => service.make.user({ role: 'operator' }));
  const operator = madeOnce(() => service.make.user({ role: 'operator' }));
  const browser = madeOnce(() => service.make.signedIn(operator));
  const user = madeForEach(() => service.make.user());
  const client = madeForEach(() => service.make.client({ ownerId: owner.id }));
  let ids: Record<string, string> = {};
  /** The last entry of the audit log before the form was opened. */
  let since = '';

  const query = <T>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);
  beforeAll(() =>
    query(
      `INSERT INTO purposes VALUES ('route_planning', '{"en": "To plan routes"}') ON CONFLICT DO NOTHING`,
    ),
  );

  /** What a form is about beside the user and the client, by what its path contains. */
  const MAKE: [path: RegExp, make: () => Promise<unknown>][] = [
    [
      /^\/(endpoints|deliveries)\//,
      async () => {
        const endpoint = await makeEndpoint(service, client);
        const failed: SeededDelivery = { state: 'failed', attempts: [{ status: 500 }] };
        ids = { endpoints: endpoint.id, deliveries: await seedDelivery(service, endpoint, failed) };
      },
    ],
    [/\/consents\/:user_id\/|\/applications\//, () => service.make.consent(client, user)],
    [/^\/grants\//, () => service.make.tokens(client, user)],
    // Approving also needs a second factor in the session.
    [
      /^\/approvals\//,
      () => query('UPDATE sessions SET second_factor = true WHERE user_id = $1', [operator.id]),
    ],
    [
      /^\/(approvals|redirect-uris)\//,
      async () => (ids = await seedDecisions(service, { user, client, by: other.id })),
    ],
    [
      /\/withdraw\//,
      async () => {
        ids = { withdraw: newId('mbiv') };
        await query(
          `INSERT INTO organisation_invitations (id, email, email_key, role, invited_by, digest, expires_at)
           VALUES ($1, $1, lower($1), 'viewer', $2, sha256($1::bytea), now() + interval '1 day')`,
          [ids.withdraw, operator.id],
        );
      },
    ],
    [/remove-operator$/, () => query("UPDATE users SET role = 'operator' WHERE id = $1", [user.id])],
    [
      /reset-second-factor$/,
      () =>
        query("INSERT INTO authenticator_apps (user_id, sealed_secret, last_step) VALUES ($1, 'x', 0)", [
          user.id,
        ]),
    ],
    [/\/members\//, () => query("UPDATE users SET kind = 'organisation' WHERE id = $1", [user.id])],
    [
      /\/members\/:user_id\/remove$/,
      () =>
        query("INSERT INTO organisation_members (organisation_id, user_id, role) VALUES ($1, $2, 'viewer')", [
          user.id,
          owner.id,
        ]),
    ],
    [/logo\/remove$/, () => showLogo(service, client)],
    [
      /\/identities\//,
      () =>
        query(
          "INSERT INTO identities (issuer, subject, user_id, provider) VALUES ('https://company.example', $1, $1, 'company')",
          [user.id],
        ),
    ],
    [/^\/users\/.*\/enable$/, () => query('UPDATE users SET enabled = false WHERE id = $1', [user.id])],
    [/^\/clients\/.*\/enable$/, () => query('UPDATE clients SET enabled = false WHERE id = $1', [client.id])],
    [
      /^\/endpoints\/.*\/enable$/,
      () =>
        query('UPDATE webhook_endpoints SET enabled = false, disabled_at = now() WHERE id = $1', [
          ids.endpoints,
        ]),
    ],
  ];
  const fill = (path: string): string =>
    CONSOLE +
    pathWith(path, {
      client_id: client.id,
      user_id: user.id,
      users: user.id,
      members: owner.id,
      ...ids,
    });
  const filled = (fields: Fields = {}): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        value === 'USER' ? user.id : value === 'OWNER' ? owner.id : value,
      ]),
    );
  /** Opens the form while the password is recent. The caller then makes the session old and submits it. */
  const open = async (path: string, { from = path }: Sent): Promise<{ page: Page; action: string }> => {
    await renewSession();
    for (const [paths, make] of MAKE) if (paths.test(path)) await make();
    since = await service.database.value<string>('SELECT max(id) FROM audit_events', []);
    const page = await browser.open(fill(from));
    const action =
      path === '/grants/:id/revoke'
        ? page.html.querySelector('form.in-row')!.getAttribute('action')!
        : fill(path);
    return { page, action };
  };
  const ageSession = () =>
    query("UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1", [operator.id]);
  const auditLog = () =>
    query(
      `SELECT action FROM audit_events
        WHERE actor_id = $1 AND id > $2 AND action NOT LIKE 'session.%' AND action <> 'user.sign_in_ways_ended' ORDER BY id`,
      [operator.id, since],
    );

  it('is in exactly one of the two lists', () => {
    expect([...Object.keys(ASKING), ...Object.keys(NOT_ASKING)].sort()).toEqual([...POSTS].sort());
  });

  /** That the password leads back to where it was asked for is in console-users.spec.ts. */
  const renewSession = () =>
    query('UPDATE sessions SET created_at = now() WHERE user_id = $1', [operator.id]);

  it.each(Object.keys(ASKING))('asks for the password before it does anything: %s', async (path) => {
    const { page, action } = await open(path, ASKING[path]!);
    await ageSession();
    // Also when its page is opened only then.
    if (POSTS.includes(path) && !ASKING[path]!.from) {
      const later = await browser.open(fill(path));
      const back = new URLSearchParams({ return_to: fill(path) }).toString();
      const asking = [303, `${CONSOLE}/confirm-password?${back}`];
      expect(placeOf(later)).toEqual(path in HARMLESS ? [200, null] : asking);
    }
    const before = { ...(await rowCounts(service)), sessions: 0 };
    const answer = await browser.submit(page, action, filled(ASKING[path]!.fields));
    expect({ ...(await rowCounts(service)), sessions: 0 }).toEqual(before);
    expect(await auditLog()).toEqual([]);
    if (answer.status === 303) {
      const confirm = answer.headers.get('location')!;
      expect(confirm).toContain(`${CONSOLE}/confirm-password?return_to=`);
      await renewSession();
      // The user returns to the page that describes the action, and submits it deliberately.
      const shown = await browser.open(new URL(confirm, service.url).searchParams.get('return_to')!);
      expect(await auditLog()).toEqual([]);
      await browser.submit(shown, action, filled(ASKING[path]!.fields));
    } else {
      // The page keeps what was typed.
      expect(answer.status).toBe(400);
      expect(answer.html.querySelector('[role="alert"]')!.text).toContain('Enter your password again');
      const done = await browser.submit(answer, action, { confirm_password: PASSWORD });
      expect([done.status, done.headers.get('location')]).toEqual([303, expect.any(String)]);
    }
    // Approving is an event of its own, beside what it carries out.
    expect(await auditLog()).toHaveLength(path.endsWith('/approve') ? 2 : 1);
  });

  it('keeps asking for the password after a wrong one', async () => {
    const { page, action } = await open('/users/:id/edit', {});
    await ageSession();
    const asking = await browser.submit(page, action, { email: 'another@evil.example' });
    const wrong = await browser.submit(asking, action, { confirm_password: 'wrong horse battery staple' });
    expect([wrong.status, wrong.html.querySelector('#confirm_password-error')!.text]).toEqual([
      400,
      'This is not your password.',
    ]);
    expect(await auditLog()).toEqual([]);
    expect((await browser.submit(wrong, action, { confirm_password: PASSWORD })).status).toBe(303);
    expect(await auditLog()).toHaveLength(1);
  });

  it.each(Object.entries(NOT_ASKING).map(([path, { because }]) => [path, because]))(
    'does not ask for the password at %s, because %s',
    async (path) => {
      const { page, action } = await open(path!, NOT_ASKING[path!]!);
      await ageSession();
      const answer = await browser.submit(page, action, filled(NOT_ASKING[path!]!.fields));
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        expect.not.stringContaining('confirm'),
      ]);
    },
  );

  it.each(Object.keys(HARMLESS))(
    'does not ask for the password for changes that give no power: %s',
    async (path) => {
      if (path.startsWith('/clients'))
        await query("UPDATE clients SET grant_types = '{client_credentials}' WHERE id = $1", [client.id]);
      const { page, action } = await open(path, {});
      await ageSession();
      const answer = await browser.submit(page, action, HARMLESS[path]);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, fill(path.replace('/edit', ''))]);
      expect(await auditLog()).toHaveLength(1);
    },
  );

  it("creates no password link for the operator's own account, however recent the password", async () => {
    const own = `${CONSOLE}/users/${operator.id}`;
    const { page } = await open(own.slice(CONSOLE.length), {});
    expect(page.html.querySelector('form[action$="/password-link"]')).toBeNull();
    expect(page.html.querySelector('a[href="/account/password"]')).not.toBeNull();
    // The page has no such form, so the test creates the CSRF token as the service does.
    const path = `${own}/password-link`;
    const [session] = await query<{ digest: Buffer }>(
      'SELECT digest FROM sessions WHERE user_id = $1 ORDER BY created_at DESC LIMIT 1',
      [operator.id],
    );
    const request = { cookies: Object.fromEntries(browser.cookies) } as unknown as FastifyRequest;
    const binding = `console ${path} ${session!.digest.toString('base64url')}`;
    const token = service.app.get(CsrfService).tokenFor(request, {} as FastifyReply, binding);
    const answer = await browser.open(path, {
      form: { csrf_token: token },
      headers: { origin: service.url },
    });
    expect(answer.status).toBe(409);
    expect(wordsOf(answer)).toContain('You cannot create a password link for yourself.');
    expect(await query('SELECT 1 FROM password_links WHERE user_id = $1', [operator.id])).toEqual([]);
    expect(await auditLog()).toEqual([]);
  });
});

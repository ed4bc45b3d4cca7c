import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import type { MemberRole } from '../../src/partners/members/member-role.js';
import { MembersService } from '../../src/partners/members/members.service.js';
import { newSecret } from '../../src/secrets/tokens.js';
import { UsersService } from '../../src/users/accounts/users.service.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { PASSWORD, type TestClient } from '../support/factory.js';
import { MailServer } from '../support/mail-server.js';
import { enterPortal, errorAt, makeEndpoint, wordsOf } from '../support/portal.js';
import { startService, type TestService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';

const SIGN_IN = '/portal/sign-in';
const MEMBERS = '/portal/members';

describe('The members of an organisation', () => {
  let service: TestService;
  let smtp: MailServer;
  let owner: UserEntity;
  let client: TestClient;
  let email: string;
  let counter = 0;

  beforeAll(async () => {
    smtp = await MailServer.start();
    service = await startService({ env: { ...smtp.env, ...WEBHOOK_ENV, TRUSTED_PROXIES: '127.0.0.1' } });
  });
  beforeEach(async () => {
    owner = await service.make.user({ kind: 'organisation', emailVerified: true });
    client = await service.make.client({ ownerId: owner.id });
    email = `person${++counter}@partner.example`;
  });
  afterAll(async () => {
    await service.stop();
    await smtp.stop();
  });

  /** The pages of every test come from a network of their own, because only so many mails are sent from one. */
  const newBrowser = (): BrowserSession =>
    new BrowserSession(service.url, { 'x-forwarded-for': `198.51.100.${++counter % 250}` });
  const signedIn = async (user: UserEntity): Promise<BrowserSession> => {
    const browser = newBrowser();
    await browser.logIn(user.email, PASSWORD);
    return browser;
  };
  const openPortal = async (browser: BrowserSession, which = client): Promise<Page> =>
    browser.submit(await browser.open(SIGN_IN), `${SIGN_IN}/${which.id}`);
  const inPortal = async (user: UserEntity): Promise<BrowserSession> => {
    const browser = await signedIn(user);
    expect((await openPortal(browser)).headers.get('location')).toBe('/portal');
    return browser;
  };
  const member = async (role: MemberRole): Promise<UserEntity> => {
    const user = await service.make.user({ emailVerified: true });
    await service.app.get(MembersService).add(owner.id, user.id, role, SERVICE_ACTOR);
    return user;
  };
  const givenLongAgo = (user: UserEntity) =>
    service.database.query(
      "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
      [user.id],
    );
  const invite = async (
    admin: BrowserSession,
    address = email,
    role: MemberRole = 'developer',
  ): Promise<Page> => admin.submit(await admin.open(MEMBERS), MEMBERS, { email: address, role });
  const invited = async (role: MemberRole = 'developer'): Promise<string> => {
    expect((await invite(await inPortal(owner), email, role)).status).toBe(303);
    return new URL((await smtp.mailTo(email)).link).pathname;
  };

  describe('signing in', () => {
    it('opens the portal of a client of the organisation, as far as the role goes', async () => {
      const login = await newBrowser().open(SIGN_IN);
      expect([login.status, login.headers.get('location')]).toEqual([
        302,
        `/login?return_to=${encodeURIComponent(SIGN_IN)}`,
      ]);
      const user = await member('viewer');
      const account = await (await signedIn(user)).open('/account');
      expect(account.html.querySelector(`a[href="${SIGN_IN}"]`)).not.toBeNull();
      const other = await (await signedIn(await service.make.user())).open('/account');
      expect(other.html.querySelector(`a[href="${SIGN_IN}"]`)).toBeNull();
      const browser = await inPortal(user);
      const page = await browser.open('/portal');
      expect([page.status, wordsOf(page)]).toEqual([200, expect.stringContaining('with the role viewer')]);
      const events = await service.database.query(
        "SELECT actor_type, actor_id FROM audit_events WHERE action = 'portal_session.started' AND subject_id = $1",
        [client.id],
      );
      expect(events).toEqual([{ actor_type: 'user', actor_id: user.id }]);
    });

    it('lists the clients of all organisations of the visitor, and opens no others', async () => {
      const neighbour = await service.make.client();
      const disabled = await service.make.client({ ownerId: owner.id });
      await service.database.query('UPDATE clients SET enabled = false WHERE id = $1', [disabled.id]);
      const user = await member('admin');
      await service.app.get(MembersService).add(neighbour.ownerId, user.id, 'viewer', SERVICE_ACTOR);
      const browser = await signedIn(user);
      const page = await browser.open(SIGN_IN);
      expect(
        page.html
          .querySelectorAll('main code')
          .map(({ text }) => text)
          .sort(),
      ).toEqual([client.id, neighbour.id].sort());
      const stranger = await signedIn(await service.make.user());
      expect(wordsOf(await stranger.open(SIGN_IN))).toContain('You belong to no organisation');
      const csrf_token = page.html.querySelector('input[name=csrf_token]')!.getAttribute('value')!;
      for (const id of [disabled.id, 'clnt01HN2NJ9NMRZBXT1H6FT9N7735', 'x']) {
        const refused = await browser.open(`${SIGN_IN}/${id}`, {
          form: { csrf_token },
          headers: { origin: service.url },
        });
        expect([id, refused.status]).toEqual([id, 403]);
      }
      expect((await browser.open('/portal')).status).toBe(401);
    });

    it.each([
      [
        'the login',
        (user: UserEntity) => service.database.query('DELETE FROM sessions WHERE user_id = $1', [user.id]),
      ],
      [
        'the membership',
        (user: UserEntity) => service.app.get(MembersService).remove(owner.id, user.id, SERVICE_ACTOR),
      ],
      [
        'webhooks_enabled',
        () => service.app.get(UsersService).update(owner.id, { webhooksEnabled: false }, SERVICE_ACTOR),
      ],
      [
        'the account',
        (user: UserEntity) =>
          service.app.get(UsersService).update(user.id, { enabled: false }, SERVICE_ACTOR),
      ],
      ['the account', (user: UserEntity) => service.app.get(UsersService).erase(user.id, SERVICE_ACTOR)],
    ] as const)('ends with %s, and nothing revives it', async (what, end) => {
      const user = await member('developer');
      const browser = await inPortal(user);
      const revealed = browser.cookies.get('portal_session');
      await end(user);
      expect((await browser.open('/portal')).status).toBe(401);
      if (what === 'the account') return;
      await service.app.get(UsersService).update(owner.id, { webhooksEnabled: true }, SERVICE_ACTOR);
      if (what === 'the membership') {
        await service.app.get(MembersService).add(owner.id, user.id, 'developer', SERVICE_ACTOR);
      }
      const again = await signedIn(user);
      again.cookies.set('portal_session', revealed!);
      expect((await again.open('/portal')).status).toBe(401);
    });

    it('ends with logging out, and belongs to the browser of the login', async () => {
      const user = await member('developer');
      const browser = await inPortal(user);
      const thief = newBrowser();
      thief.cookies.set('portal_session', browser.cookies.get('portal_session')!);
      expect((await thief.open('/portal')).status).toBe(401);
      await browser.submit(await browser.open('/account'), '/logout');
      expect((await browser.open('/portal')).status).toBe(401);
      await browser.logIn(user.email, PASSWORD);
      await openPortal(browser);
      expect((await browser.open('/portal')).status).toBe(200);
      await browser.submit(await browser.open('/portal'), '/portal/logout');
      expect((await browser.open('/portal')).status).toBe(401);
      expect((await browser.open('/account')).status).toBe(200);
    });
  });

  describe('have a role, which', () => {
    it('is judged on each request', async () => {
      const endpoint = await makeEndpoint(service, client);
      const path = `/portal/endpoints/${endpoint.id}`;
      const user = await member('viewer');
      const browser = await inPortal(user);
      const page = await browser.open(path);
      expect(page.status).toBe(200);
      expect(page.html.querySelectorAll('main form').map((form) => form.getAttribute('action'))).toEqual([
        '/portal/logout',
      ]);
      const refused = await browser.open(`${path}/edit`);
      expect([refused.status, wordsOf(refused)]).toEqual([
        403,
        expect.stringMatching(
          /Your role does not allow this.*requires the role developer. Your role is viewer/,
        ),
      ]);
      const secret = await browser.open(`${path}/secret`, { form: {}, headers: { origin: service.url } });
      expect(secret.status).toBe(403);
      await service.app.get(MembersService).changeRole(owner.id, user.id, 'developer', SERVICE_ACTOR);
      const shown = await browser.submit(await browser.open(path), `${path}/secret`);
      expect(shown.text).toContain(endpoint.secret);
      await service.app.get(MembersService).changeRole(owner.id, user.id, 'viewer', SERVICE_ACTOR);
      expect((await browser.open(`${path}/edit`)).status).toBe(403);
    });

    it('with a one-time link is that of a developer', async () => {
      const browser = await enterPortal(service, client);
      expect((await browser.open('/portal/endpoints/new')).status).toBe(200);
      for (const part of ['credentials', 'redirect-uris', 'members']) {
        const page = await browser.open(`/portal/${part}`);
        expect([part, page.status]).toEqual([part, 200]);
        expect(page.html.querySelectorAll('main form').map((form) => form.getAttribute('action'))).toEqual([
          '/portal/logout',
        ]);
      }
      for (const path of [
        'credentials/rotate',
        'credentials/end',
        'redirect-uris',
        'redirect-uris/remove',
        'members',
      ]) {
        const refused = await browser.open(`/portal/${path}`, { form: {}, headers: { origin: service.url } });
        expect([path, refused.status, wordsOf(refused)]).toEqual([
          path,
          403,
          expect.stringContaining('You came with a one-time link'),
        ]);
      }
    });

    it('of an admin asks for a login of the last 15 minutes, and comes back to the same portal', async () => {
      const user = await member('admin');
      const browser = await inPortal(user);
      const page = await browser.open(MEMBERS);
      await givenLongAgo(user);
      const late = await browser.submit(page, MEMBERS, { email, role: 'viewer' });
      const confirm = `/account/confirm?return_to=${encodeURIComponent(MEMBERS)}`;
      expect([late.status, late.headers.get('location')]).toEqual([303, confirm]);
      expect(smtp.to(email)).toEqual([]);
      const asked = await browser.open(MEMBERS);
      expect(asked.html.querySelector(`a[href="${confirm}"]`)!.text).toBe('Confirm that it is you');
      expect(asked.html.querySelector(`form[action="${MEMBERS}"]`)).toBeNull();
      const wrong = await browser.submit(await browser.open(confirm), '/account/confirm', { password: 'x' });
      expect(wrong.status).toBe(400);
      const right = await browser.submit(await browser.open(confirm), '/account/confirm', {
        password: PASSWORD,
      });
      expect([right.status, right.headers.get('location')]).toEqual([303, MEMBERS]);
      expect((await invite(browser)).status).toBe(303);
    });
  });

  describe('are invited by a mail whose link', () => {
    it('makes a member of whoever is logged in with its address, once', async () => {
      const link = await invited('admin');
      const user = await service.make.user({ email, emailVerified: true });
      const browser = newBrowser();
      const first = await browser.open(link);
      expect([first.status, first.headers.get('location'), first.headers.get('referrer-policy')]).toEqual([
        302,
        `/login?return_to=${encodeURIComponent(link)}`,
        'strict-origin',
      ]);
      const login = await browser.submit(await browser.open(first.headers.get('location')!), '/login', {
        email,
        password: PASSWORD,
      });
      expect(login.headers.get('location')).toBe(link);
      const page = await browser.open(link);
      const answers = await Promise.all([1, 2, 3].map(() => browser.submit(page, link)));
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410]);
      expect((await browser.open(link)).status).toBe(410);
      expect((await openPortal(browser)).status).toBe(303);
      expect(wordsOf(await browser.open(MEMBERS))).toContain(user.name);
      const events = await service.database.query<{ action: string }>(
        "SELECT action, before, after FROM audit_events WHERE subject_id = $1 AND action LIKE 'organisation.%' ORDER BY id",
        [owner.id],
      );
      expect(events.map(({ action }) => action)).toEqual([
        'organisation.member_invited',
        'organisation.member_added',
      ]);
      expect(JSON.stringify(events)).not.toContain(email);
    });

    it('makes an account with a verified address for somebody who has none', async () => {
      const link = await invited('viewer');
      const browser = newBrowser();
      const page = await browser.open(link);
      expect([page.status, wordsOf(page)]).toEqual([200, expect.stringContaining(owner.name)]);
      const person = { name: 'Zoë Partner', password: PASSWORD, password_again: PASSWORD };
      const wrong = await browser.submit(page, link, { ...person, password_again: 'other' });
      expect([wrong.status, errorAt(wrong, 'password-again')]).toEqual([
        400,
        'The two passwords are not the same.',
      ]);
      const answers = await Promise.all([1, 2].map(() => browser.submit(page, link, person)));
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)[0]).toBe(200);
      const user = (await service.app.get(UsersService).findByEmail(email))!;
      expect(user.emailVerifiedAt).not.toBeNull();
      expect(wordsOf(await (await inPortal(user)).open('/portal'))).toContain('with the role viewer');
      expect((await newBrowser().open(link)).status).toBe(410);
    });

    it('is for nobody else, nor for an address that is not verified', async () => {
      const link = await invited();
      const other = await (await signedIn(await service.make.user({ emailVerified: true }))).open(link);
      expect([other.status, wordsOf(other)]).toEqual([403, expect.stringContaining('another address')]);
      await service.make.user({ email });
      const browser = await signedIn((await service.app.get(UsersService).findByEmail(email))!);
      const unverified = await browser.open(link);
      expect([unverified.status, wordsOf(unverified)]).toEqual([
        403,
        expect.stringContaining('Your address is not confirmed yet'),
      ]);
      expect(unverified.html.querySelector(`form[action="${link}"]`)).toBeNull();
      await service.database.query('UPDATE users SET email_verified_at = now() WHERE email = $1', [email]);
      const page = await browser.open(link);
      await service.database.query('UPDATE users SET email_verified_at = NULL WHERE email = $1', [email]);
      expect((await browser.submit(page, link)).status).toBe(403);
    });

    it('ends after 7 days, when it is withdrawn, and when the address is invited again', async () => {
      const admin = await inPortal(owner);
      await invite(admin);
      const first = new URL((await smtp.mailTo(email)).link).pathname;
      await invite(admin, email, 'viewer');
      const second = new URL((await smtp.mailTo(email, 2)).link).pathname;
      expect((await newBrowser().open(first)).status).toBe(410);
      const page = await admin.open(MEMBERS);
      expect(page.html.querySelectorAll('.entries li')).toHaveLength(1);
      const withdraw = page.html
        .querySelectorAll('form')
        .map((form) => form.getAttribute('action')!)
        .find((action) => action.includes('/withdraw/'))!;
      expect((await newBrowser().open(second)).status).toBe(200);
      expect((await admin.submit(page, withdraw)).status).toBe(303);
      expect((await admin.submit(page, withdraw)).status).toBe(404);
      expect((await newBrowser().open(second)).status).toBe(410);
      await invite(admin);
      const third = new URL((await smtp.mailTo(email, 3)).link).pathname;
      await service.database.query(
        "UPDATE organisation_invitations SET expires_at = now() - interval '1 second' WHERE email = $1",
        [email],
      );
      for (const link of [third, `/invitations/${newSecret('invitationKey')}`, '/invitations/x']) {
        expect((await newBrowser().open(link)).status).toBe(410);
      }
    });

    it('is not sent to members, to what is no address, with no role, or beyond the limits', async () => {
      const admin = await inPortal(owner);
      const user = await member('viewer');
      for (const address of [owner.email, user.email.toUpperCase()]) {
        const refused = await invite(admin, address);
        expect([refused.status, wordsOf(refused)]).toEqual([
          409,
          expect.stringContaining('a member already'),
        ]);
      }
      const wrong = await invite(admin, 'not an address', 'king' as MemberRole);
      expect([wrong.status, errorAt(wrong, 'email'), errorAt(wrong, 'role')]).toEqual([
        400,
        'Enter an email address, such as name@mail.example.',
        'Choose one of these.',
      ]);
      for (let n = 0; n < 5; n++) expect((await invite(admin)).status).toBe(303);
      expect((await invite(admin)).status).toBe(429);
      await service.database.query(
        `INSERT INTO organisation_invitations (id, organisation_id, email, email_key, role, digest, expires_at)
         SELECT 'mbiv' || lpad(n::text, 26, '0'), $1, n || '@x.example', n || '@x.example', 'viewer',
                sha256(($1 || n)::bytea), now() + interval '1 day' FROM generate_series(1, 49) n`,
        [owner.id],
      );
      const full = await invite(admin, `one-more-${email}`);
      expect([full.status, wordsOf(full)]).toEqual([
        409,
        expect.stringContaining('at most 50 open invitations'),
      ]);
    });

    it('cannot be accepted beyond 50 members, and works again afterwards', async () => {
      const link = await invited();
      await service.database.query(
        `WITH made AS (
           INSERT INTO users (id, email, email_key, name, kind, role)
           SELECT 'user' || lpad(n::text, 26, '0'), n || '@many.example', n || '@many.example', 'M', 'individual', 'user'
             FROM generate_series(1, 50) n RETURNING id
         )
         INSERT INTO organisation_members (organisation_id, user_id, role) SELECT $1, id, 'viewer' FROM made`,
        [owner.id],
      );
      const user = await service.make.user({ email, emailVerified: true });
      const browser = await signedIn(user);
      expect((await browser.submit(await browser.open(link), link)).status).toBe(409);
      await service.database.query(
        'DELETE FROM organisation_members WHERE organisation_id = $1 AND user_id = (SELECT max(user_id) FROM organisation_members WHERE organisation_id = $1)',
        [owner.id],
      );
      expect((await browser.submit(await browser.open(link), link)).status).toBe(303);
    });
  });

  it('get another role and are removed by an admin, and are told', async () => {
    const user = await member('viewer');
    const admin = await inPortal(await member('admin'));
    const path = `${MEMBERS}/${user.id}`;
    const wrong = await admin.submit(await admin.open(path), path, { role: 'king' });
    expect([wrong.status, errorAt(wrong, 'role')]).toEqual([400, 'Choose one of these.']);
    const changed = await admin.submit(await admin.open(path), path, { role: 'developer' });
    expect(changed.headers.get('location')).toBe(MEMBERS);
    const removal = await admin.open(`${path}/remove`);
    expect((await admin.submit(removal, `${path}/remove`)).status).toBe(303);
    expect((await admin.submit(removal, `${path}/remove`)).status).toBe(404);
    for (const id of [user.id, 'x']) expect((await admin.open(`${MEMBERS}/${id}`)).status).toBe(404);
    const told = await service.database.query<{ body: string }>(
      "SELECT short_text_body AS body FROM notifications WHERE user_id = $1 AND message_id = 'ERR2901' ORDER BY id",
      [user.id],
    );
    expect(told.map(({ body }) => body)).toEqual([
      `You are a member of “${owner.name}” with the role viewer.`,
      `You are a member of “${owner.name}” with the role developer.`,
      `You are a member of “${owner.name}” no longer.`,
    ]);
    expect((await smtp.mailTo(user.email, 3)).subject).toBe('Your access to a partner portal changed');
  });

  it('of others stay hidden: an admin of one organisation changes nothing in another', async () => {
    const neighbour = await service.make.user({ kind: 'organisation' });
    const user = await service.make.user();
    await service.app.get(MembersService).add(neighbour.id, user.id, 'viewer', SERVICE_ACTOR);
    const admin = await inPortal(owner);
    expect((await admin.open(`${MEMBERS}/${user.id}`)).status).toBe(404);
    expect((await admin.open(`${MEMBERS}/${user.id}/remove`)).status).toBe(404);
    expect(wordsOf(await admin.open(MEMBERS))).not.toContain(user.email);
  });

  it('leave nothing behind when they are erased', async () => {
    const user = await member('admin');
    await inPortal(user);
    await invite(await inPortal(owner));
    const person = await service.make.user({ email });
    await service.app.get(UsersService).erase(user.id, SERVICE_ACTOR);
    await service.app.get(UsersService).erase(person.id, SERVICE_ACTOR);
    const left = await service.database.query(
      `SELECT 1 FROM organisation_members WHERE user_id = $1
       UNION ALL SELECT 1 FROM portal_member_sessions WHERE user_id = $1
       UNION ALL SELECT 1 FROM organisation_invitations WHERE email = $2
       UNION ALL SELECT 1 FROM mails WHERE address = $2`,
      [user.id, email],
    );
    expect(left).toEqual([]);
  });

  describe('in the admin API', () => {
    const id = (): string => owner.id;
    const path = (): string => `/admin/users/${id()}/members`;

    it('are added, listed, changed and removed', async () => {
      const bearer = await service.make.adminToken();
      const user = await service.make.user();
      const added = await service.http.send(path(), { bearer, json: { user_id: user.id, role: 'viewer' } });
      expect([added.status, added.json]).toEqual([
        201,
        {
          user_id: user.id,
          name: user.name,
          email: user.email,
          role: 'viewer',
          added_at: expect.any(String),
        },
      ]);
      const one = `${path()}/${user.id}`;
      const changed = await service.http.send(one, { method: 'PATCH', bearer, json: { role: 'admin' } });
      expect([changed.status, changed.json.role]).toEqual([200, 'admin']);
      const listed = await service.http.get(`${path()}?page_size=1`, { bearer });
      expect(listed.json).toEqual([changed.json]);
      expect((await service.http.send(one, { method: 'DELETE', bearer })).status).toBe(204);
      expect((await service.http.send(one, { method: 'DELETE', bearer })).status).toBe(404);
    });

    it('are refused with a reason', async () => {
      const bearer = await service.make.adminToken();
      const user = await member('viewer');
      const person = await service.make.user();
      const post = async (to: string, json: object) => (await service.http.send(to, { bearer, json })).status;
      expect(await post(path(), { user_id: user.id, role: 'viewer' })).toBe(409);
      expect(await post(path(), { user_id: owner.id, role: 'viewer' })).toBe(409);
      expect(await post(path(), { user_id: person.id, role: 'king' })).toBe(400);
      expect(await post(path(), { user_id: 'user01HN2NJ9NMRZBXT1H6FT9N7735', role: 'viewer' })).toBe(400);
      expect(await post(`/admin/users/${person.id}/members`, { user_id: user.id, role: 'viewer' })).toBe(409);
      expect(await post('/admin/users/nobody/members', { user_id: user.id, role: 'viewer' })).toBe(404);
      const owns = { method: 'PATCH', bearer, json: { role: 'viewer' } } as const;
      expect((await service.http.send(`${path()}/${owner.id}`, owns)).status).toBe(409);
      expect((await service.http.send(`${path()}/${person.id}`, owns)).status).toBe(404);
    });
  });

  it('in the console are added by an admin, found by their address, and removed', async () => {
    const operator = await service.make.signedIn(await service.make.user({ role: 'operator' }));
    const user = await service.make.user();
    const path = `/admin/console/users/${owner.id}/members`;
    const wrong = await operator.submit(await operator.open(`${path}/new`), `${path}/new`, {
      user: 'nobody',
    });
    expect([wrong.status, errorAt(wrong, 'user')]).toEqual([400, 'No user has this email or ID.']);
    for (const role of ['viewer', 'admin']) {
      const fields = { user: user.email, role };
      expect((await operator.submit(await operator.open(`${path}/new`), `${path}/new`, fields)).status).toBe(
        303,
      );
      expect(wordsOf(await operator.open(path))).toMatch(new RegExp(`${user.email}\\s*${role}`));
    }
    const removal = `${path}/${user.id}/remove`;
    expect((await operator.submit(await operator.open(removal), removal)).status).toBe(303);
    expect(wordsOf(await operator.open(path))).toContain('no members but its own account');
  });
});

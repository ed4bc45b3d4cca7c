import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { InvitationsService } from '#events/partners/members/invitations.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { actionsOn, auditEventsOn, notificationsOf } from '../support/audit-events.js';
import { csrfTokenOn, type Page, PASSWORD, postedAnew } from '../support/spec.js';
import { MEMBERS, setUpOrganisation, SIGN_IN } from '../support/organisation.js';
import { enterPortal, errorAt, makeEndpoint, wordsOf } from '../support/portal.js';
import { listOf } from '../support/list-of.js';

describe('The members of an organisation', () => {
  const own = setUpOrganisation();
  const { service, smtp, newBrowser, signedIn, openPortal, inPortal, member, invite } = own;
  let { owner, client, email } = own;
  beforeEach(() => void ({ owner, client, email } = own));

  const users = () => service.app.get(UsersService);
  const members = () => service.app.get(MembersService);
  const givenLongAgo = (user: UserEntity) =>
    service.database.query(
      "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
      [user.id],
    );

  describe('signing in', () => {
    it('opens the portal of a client of the organisation, as far as the role goes', async () => {
      const login = await newBrowser().open(SIGN_IN);
      expect([login.status, login.headers.get('location')]).toEqual([
        302,
        `/login?return_to=${encodeURIComponent(SIGN_IN)}`,
      ]);
      const user = await member('viewer');
      const browser = await signedIn(user);
      expect((await browser.open('/account')).html.querySelector(`a[href="${SIGN_IN}"]`)).not.toBeNull();
      const other = await (await signedIn(await service.make.user())).open('/account');
      expect(other.html.querySelector(`a[href="${SIGN_IN}"]`)).toBeNull();
      expect((await openPortal(browser)).headers.get('location')).toBe('/portal');
      const page = await browser.open('/portal');
      const menu = page.html.querySelector('.visitor')!.text;
      expect([page.status, menu]).toEqual([200, expect.stringContaining('With the role viewer')]);
      expect(await auditEventsOn(service, client.id, 'portal_session.started')).toMatchObject([
        { actor_type: 'user', actor_id: user.id },
      ]);
    });

    it('lists the clients of all organisations of the visitor, and opens no others', async () => {
      const neighbour = await service.make.client();
      const disabled = await service.make.client({ ownerId: owner.id });
      await service.database.query('UPDATE clients SET enabled = false WHERE id = $1', [disabled.id]);
      const user = await member('admin');
      await members().add(neighbour.ownerId, user.id, 'viewer', SERVICE_ACTOR);
      const browser = await signedIn(user);
      const page = await browser.open(SIGN_IN);
      const shown = page.html.querySelectorAll('main code').map(({ text }) => text);
      expect(shown.sort()).toEqual([client.id, neighbour.id].sort());
      const stranger = await signedIn(await service.make.user());
      expect(wordsOf(await stranger.open(SIGN_IN))).toContain('You belong to no organisation');
      const form = { csrf_token: csrfTokenOn(page) };
      for (const id of [disabled.id, 'clnt01HN2NJ9NMRZBXT1H6FT9N7735', 'x']) {
        const refused = await browser.open(`${SIGN_IN}/${id}`, { form, headers: { origin: service.url } });
        expect([id, refused.status]).toEqual([id, 403]);
      }
      expect((await browser.open('/portal')).status).toBe(401);
    });

    it('leads from each page to the portals of the other clients, and says where endpoints fail', async () => {
      const other = await service.make.client({ ownerId: owner.id });
      const endpoint = await makeEndpoint(service, other);
      await service.database.query('UPDATE webhook_endpoints SET failing_since = now() WHERE id = $1', [
        endpoint.id,
      ]);
      const badgesOn = (page: Page, place: string) =>
        page.html.querySelectorAll(`${place} .count`).map(({ text }) => text);
      const browser = await inPortal(await member('viewer'));
      const page = await browser.open('/portal/deliveries');
      const forms = page.html
        .querySelectorAll('.switch-client form')
        .map((form) => form.getAttribute('action'));
      expect(forms).toEqual([`${SIGN_IN}/${other.id}`]);
      expect([badgesOn(page, '.switch-client'), badgesOn(page, '.side-nav')]).toEqual([['1 failing'], []]);
      const switched = await browser.submit(page, `${SIGN_IN}/${other.id}`);
      expect([switched.status, switched.headers.get('location')]).toEqual([303, '/portal']);
      const there = await browser.open('/portal');
      expect([badgesOn(there, '.switch-client'), badgesOn(there, '.side-nav')]).toEqual([[], ['1 failing']]);
      expect(badgesOn(await browser.open(SIGN_IN), 'main')).toEqual(['1 endpoint failing']);
      // A one-time link is for one client.
      const link = await (await enterPortal(service, client)).open('/portal');
      expect(link.html.querySelector('.switch-client')).toBeNull();
    });

    const enableWebhooks = (webhooksEnabled: boolean) =>
      users().update(owner.id, { webhooksEnabled }, SERVICE_ACTOR);

    it.each<[string, (user: UserEntity) => Promise<unknown>]>([
      ['the login', ({ id }) => service.database.query('DELETE FROM sessions WHERE user_id = $1', [id])],
      ['the membership', ({ id }) => members().remove(owner.id, id, SERVICE_ACTOR)],
      ['webhooks_enabled', () => enableWebhooks(false)],
      ['the account', (user) => service.make.setEnabled(user, false)],
      ['the account', ({ id }) => users().erase(id, SERVICE_ACTOR)],
    ])('ends with %s, and nothing revives it', async (what, end) => {
      const user = await member('developer');
      const browser = await inPortal(user);
      const revealed = browser.cookies.get('cds_portal_session');
      await end(user);
      expect((await browser.open('/portal')).status).toBe(401);
      if (what === 'the account') return;
      await enableWebhooks(true);
      if (what === 'the membership') await members().add(owner.id, user.id, 'developer', SERVICE_ACTOR);
      const again = await signedIn(user);
      again.cookies.set('cds_portal_session', revealed!);
      expect((await again.open('/portal')).status).toBe(401);
    });

    it('ends with logging out, and belongs to the browser of the login', async () => {
      const user = await member('developer');
      const browser = await inPortal(user);
      const thief = newBrowser();
      thief.cookies.set('cds_portal_session', browser.cookies.get('cds_portal_session')!);
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
      expect(page.html.querySelectorAll('main form:not([action="/portal/logout"])')).toEqual([]);
      const refused = await browser.open(`${path}/edit`);
      expect(refused.status).toBe(403);
      expect(wordsOf(refused)).toMatch(
        /Your role does not allow this.*requires the role developer. Your role is viewer/,
      );
      const secret = await browser.open(`${path}/secret`, { form: {}, headers: { origin: service.url } });
      expect(secret.status).toBe(403);
      await members().changeRole(owner.id, user.id, 'developer', SERVICE_ACTOR);
      const shown = await browser.submit(await browser.open(path), `${path}/secret`);
      expect(shown.text).toContain(endpoint.secret);
      await members().changeRole(owner.id, user.id, 'viewer', SERVICE_ACTOR);
      expect((await browser.open(`${path}/edit`)).status).toBe(403);
    });

    it('with a one-time link is that of a developer', async () => {
      const browser = await enterPortal(service, client);
      expect((await browser.open('/portal/endpoints/new')).status).toBe(200);
      for (const part of ['credentials', 'redirect-uris', 'members']) {
        const page = await browser.open(`/portal/${part}`);
        expect([part, page.status]).toEqual([part, 200]);
        expect(page.html.querySelectorAll('main form:not([action="/portal/logout"])')).toEqual([]);
      }
      const adminOnly = listOf(`
        credentials/rotate, credentials/end, redirect-uris, redirect-uris/remove, members
      `);
      for (const path of adminOnly) {
        const refused = await browser.open(`/portal/${path}`, { form: {}, headers: { origin: service.url } });
        expect([path, refused.status]).toEqual([path, 403]);
        expect(wordsOf(refused)).toContain('You came with a one-time link');
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

  it('get another role and are removed by an admin, and are told', async () => {
    const user = await member('viewer');
    const admin = await inPortal(await member('admin'));
    const path = `${MEMBERS}/${user.id}`;
    const wrong = await admin.fillIn(path, { role: 'king' });
    expect([wrong.status, errorAt(wrong, 'role')]).toEqual([400, 'Choose one of these.']);
    expect((await admin.fillIn(path, { role: 'developer' })).headers.get('location')).toBe(MEMBERS);
    const removal = await admin.open(`${path}/remove`);
    expect((await admin.submit(removal, `${path}/remove`)).status).toBe(303);
    expect((await admin.submit(removal, `${path}/remove`, postedAnew())).status).toBe(404);
    for (const id of [user.id, 'x']) expect((await admin.open(`${MEMBERS}/${id}`)).status).toBe(404);
    const told = (await notificationsOf(service, user.id)).filter(
      ({ message_id }) => message_id === 'ERR2901',
    );
    expect(told.map(({ short_text_body }) => short_text_body)).toEqual([
      `You are a member of “${owner.name}” with the role viewer.`,
      `You are a member of “${owner.name}” with the role developer.`,
      `You are a member of “${owner.name}” no longer.`,
    ]);
    expect((await smtp.mailTo(user.email, 3)).subject).toBe('Your access to a webhook portal changed');
  });

  it('do not come back by an invitation that was not used, once they are removed', async () => {
    const neighbour = await service.make.user({ kind: 'organisation' });
    const admin = await inPortal(owner);
    await invite(admin);
    const link = new URL((await smtp.mailTo(email)).link).pathname;
    await service.app.get(InvitationsService).invite(neighbour.id, email, 'viewer', SERVICE_ACTOR);
    const elsewhere = new URL((await smtp.mailTo(email, 2)).link).pathname;
    const user = await service.make.user({ email, emailVerified: true });
    await members().add(owner.id, user.id, 'admin', SERVICE_ACTOR);
    expect((await newBrowser().open(link)).status).toBe(302);
    const removal = `${MEMBERS}/${user.id}/remove`;
    expect((await admin.submit(await admin.open(removal), removal)).status).toBe(303);
    const browser = await signedIn(user);
    expect((await browser.open(link)).status).toBe(410);
    // Of another organisation it is a different matter.
    expect((await browser.open(elsewhere)).status).toBe(200);
    expect(await actionsOn(service, owner.id, 'organisation.')).toEqual(
      listOf(`
      organisation.member_invited, organisation.member_added, organisation.member_removed,
      organisation.invitation_withdrawn
    `),
    );
  });

  it('of others stay hidden: an admin of one organisation changes nothing in another', async () => {
    const neighbour = await service.make.user({ kind: 'organisation' });
    const user = await service.make.user();
    await members().add(neighbour.id, user.id, 'viewer', SERVICE_ACTOR);
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
    await users().erase(user.id, SERVICE_ACTOR);
    await users().erase(person.id, SERVICE_ACTOR);
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
    const path = (): string => `/admin/users/${owner.id}/members`;

    it('are added, listed, changed and removed', async () => {
      const bearer = await service.make.adminToken();
      const user = await service.make.user();
      const added = await service.http.send(path(), { bearer, json: { user_id: user.id, role: 'viewer' } });
      const { id: user_id, name, email: address } = user;
      const shown = { user_id, name, email: address, role: 'viewer', added_at: expect.any(String) };
      expect([added.status, added.json]).toEqual([201, shown]);
      const one = `${path()}/${user.id}`;
      const changed = await service.http.send(one, { method: 'PATCH', bearer, json: { role: 'admin' } });
      expect([changed.status, changed.json.role]).toEqual([200, 'admin']);
      expect((await service.http.get(`${path()}?page_size=1`, { bearer })).json).toEqual([changed.json]);
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
    const wrong = await operator.fillIn(`${path}/new`, { user: 'nobody' });
    expect([wrong.status, errorAt(wrong, 'user')]).toEqual([400, 'No user has this email or ID.']);
    for (const role of ['viewer', 'admin']) {
      const fields = { user: user.email, role };
      expect((await operator.fillIn(`${path}/new`, fields)).status).toBe(303);
      expect(wordsOf(await operator.open(path))).toMatch(new RegExp(`${user.email}\\s*${role}`));
    }
    const removal = `${path}/${user.id}/remove`;
    expect((await operator.fillIn(removal)).status).toBe(303);
    expect(wordsOf(await operator.open(path))).toContain('no members but its own account');
  });
});

import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { OperatorRole } from '#platform/config/operator-role.js';
import type { Problem } from '#platform/http/problems/problem.js';
import { InvitationsService } from '#events/partners/members/invitations.service.js';
import { OperatorInvitationsService } from '#events/partners/members/operator-invitations.service.js';
import { type RateLimitStore, RATE_LIMIT_STORE } from '#access/rate-limits/store/rate-limit-store.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, leadsTo, type Page, postedAnew } from '../support/browser-session.js';
import { CONSOLE } from '../support/console.js';
import { type Answer, errorAt, PASSWORD, until, useServiceWithMail, wordsOf } from '../support/spec.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { expectRetryAfter } from '../support/rate-limits.js';
import { sharedService, startInstance } from '../support/test-service.js';
import { signIn } from '../support/without-pages.js';

const LIST = `${CONSOLE}/users/invitations`;
const MOVED = '@moved.example';
const NEW = `${LIST}/new`;
const NEW_PASSWORD = { password: 'a new long password', password_again: 'a new long password' };

describe('An admin invites operators', () => {
  const { service, smtp } = useServiceWithMail({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  const careful = madeOnce(() => startInstance(service.database, { ...smtp.env, FOUR_EYES: 'true' }));
  afterAll(() => careful.app.close());
  let counter = 0;
  let email: string;
  // Each admin has invitations of their own, which end with the role.
  const inviter = madeForEach(() => service.make.user({ role: 'operator', operatorRole: 'admin' }));
  let admins: Promise<BrowserSession> | undefined;
  beforeEach(() => void (admins = undefined));
  /** The browser of the admin, logged in when a test first needs it. */
  const admin = () => (admins ??= service.make.signedIn(inviter));
  const viewer = madeOnce(() => service.make.user({ role: 'operator', operatorRole: 'viewer' }));
  beforeEach(() => void (email = `invited${++counter}@company.example`));

  const newBrowser = () =>
    new BrowserSession(service.url, { 'x-forwarded-for': `198.51.100.${++counter % 250}` });
  const invite = async (role: string, address = email, browser?: BrowserSession) =>
    (browser ?? (await admin())).fillIn(NEW, { email: address, role });
  const linkOf = async (n = 1) => new URL((await smtp.mailTo(email, n)).link).pathname;
  /** Invites as the console does, without its pages. */
  const invited = async (role: OperatorRole = 'support'): Promise<string> => {
    const actor = { type: 'user', id: inviter.id, operatorRole: 'admin' } as const;
    await service.app.get(OperatorInvitationsService).invite(email, role, actor);
    return linkOf();
  };
  const users = () => service.app.get(UsersService);
  const account = async () => {
    const user = await users().findByEmail(email);
    return (
      user && { role: user.role, operatorRole: user.operatorRole, isVerified: user.emailVerifiedAt !== null }
    );
  };
  const signedInAs = async (user: UserEntity) => {
    const browser = newBrowser();
    await signIn(service, browser, user.email, PASSWORD);
    return browser;
  };
  const signUp = (page: Page, link: string, browser: BrowserSession, role = {}) =>
    browser.submit(page, link, { name: 'Olga Operator', ...NEW_PASSWORD, ...role });
  const audited = () =>
    service.database.query<{ action: string; actor_id: string; after: object | null }>(
      `SELECT action, actor_id, after FROM audit_events WHERE subject_type = 'invitation' AND subject_id =
         (SELECT subject_id FROM audit_events WHERE action = 'invitation.sent' AND actor_id = $1) ORDER BY id`,
      [inviter.id],
    );

  describe('and nothing is sent', () => {
    it('beyond 50, however many admins invite at once', async () => {
      const invitations = service.app.get(OperatorInvitationsService);
      const open = (await invitations.list()).length;
      await service.database.query(
        `INSERT INTO organisation_invitations (id, email, email_key, role, invited_by, digest, expires_at)
         SELECT 'mbiv' || lpad(n::text, 26, '0'), n || $2, n || $2, 'viewer', $1, sha256(('operators' || n)::bytea), now() + interval '1 day'
           FROM generate_series(1, $3) n`,
        [inviter.id, `-${email}`, 49 - open],
      );
      const actor = { type: 'user', id: inviter.id, operatorRole: 'admin' } as const;
      const all = await Promise.allSettled(
        [1, 2, 3, 4].map((n) => invitations.invite(`${n}-at-once-${email}`, 'viewer', actor)),
      );
      const refused = all.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
      expect(refused.map(({ reason }) => (reason as Problem).status)).toEqual([409, 409, 409]);
      expect(await invitations.list()).toHaveLength(50);
      await service.database.query('DELETE FROM organisation_invitations WHERE invited_by = $1', [
        inviter.id,
      ]);
    });

    it.each([
      ['no address', { email: 'nobody', role: 'viewer' }, 'email'],
      ['no role', { email: undefined, role: '' }, 'role'],
      ['a role that there is not', { email: undefined, role: 'king' }, 'role'],
      ['a role of members', { email: undefined, role: 'developer' }, 'role'],
    ])('to %s', async (_name, { email: address = email, role }, field) => {
      const page = await invite(role, address);
      expect([page.status, errorAt(page, field)]).toEqual([400, expect.any(String)]);
      expect(await audited()).toEqual([]);
    });

    it('to an operator', async () => {
      const page = await invite('admin', viewer.email.toUpperCase());
      expect([page.status, wordsOf(page)]).toEqual([400, expect.stringContaining('is an operator already')]);
    });

    it.each(['viewer', 'support'] as const)('by a %s: nobody gives what they do not have', async (role) => {
      const browser = await service.make.signedIn(
        await service.make.user({ role: 'operator', operatorRole: role }),
      );
      const list = await browser.open(LIST);
      expect([list.status, list.html.querySelector(`a[href="${NEW}"]`)]).toEqual([200, null]);
      expect((await browser.open(NEW)).status).toBe(403);
    });

    it('by someone who is an admin no longer', async () => {
      const browser = await admin();
      const page = await browser.open(NEW);
      await service.database.query("UPDATE users SET operator_role = 'support' WHERE id = $1", [inviter.id]);
      expect((await browser.submit(page, NEW, { email, role: 'viewer' })).status).toBe(403);
      expect(smtp.to(email)).toEqual([]);
    });

    it('with FOUR_EYES: to be an admin, or to someone who stands behind a client of the admin API', async () => {
      const [other, partner] = [
        new BrowserSession(careful.url),
        await service.make.user({ emailVerified: true }),
      ];
      await service.make.operatorClient(['admin:read'], partner);
      await other.logIn(inviter.email, PASSWORD);
      for (const [address, role] of [
        [email, 'admin'],
        [partner.email, 'viewer'],
      ] as const) {
        const page = await invite(role, address, other);
        expect([page.status, wordsOf(page)]).toEqual([
          400,
          expect.stringContaining('A second admin approves'),
        ]);
      }
      // One from before the setting makes no admin either.
      const link = await invited('admin');
      const person = new BrowserSession(careful.url);
      expect((await signUp(await person.open(link), link, person)).status).toBe(409);
      expect(await account()).toBeNull();
    });

    it('but not by the browser, whatever the address: the field has no type that it checks', async () => {
      expect((await (await admin()).open(NEW)).html.querySelector('#email')!.getAttribute('type')).toBe(
        'text',
      );
    });
  });

  describe('with the admin API', () => {
    const API = '/admin/operator_invitations';
    const SCOPES = ['admin:read', 'admin:write'];
    const bearer = madeForEach(async () => ({ own: await service.make.adminToken(SCOPES, inviter) }));
    const ask = (json: object, of = bearer.own) => service.http.send(API, { bearer: of, json });
    const open = async () =>
      ((await service.http.get(API, { bearer: bearer.own })).json as { email: string }[]).filter(
        (each) => each.email === email,
      );

    it.each<[string, () => object, number, object]>([
      ['no address', () => ({ email: 'nobody', role: 'viewer' }), 400, { email: expect.anything() }],
      ['a role that there is not', () => ({ email, role: 'king' }), 400, { role: expect.anything() }],
      ['a member that there is not', () => ({ email, role: 'viewer', x: 1 }), 400, { x: expect.anything() }],
    ])('refuses %s', async (_name, json, status, fields) => {
      const answer = await ask(json());
      expect([answer.status, answer.json.field_errors]).toEqual([status, fields]);
      expect(await audited()).toEqual([]);
    });

    it('refuses an operator, and who has no admin behind them', async () => {
      const of = async (owner?: UserEntity) => service.make.adminToken(SCOPES, owner);
      const support = await service.make.user({ role: 'operator', operatorRole: 'support' });
      const refusals: [string, object, string, number][] = [
        ['an operator', { email: viewer.email, role: 'admin' }, bearer.own, 409],
        ['by support', { email, role: 'viewer' }, await of(support), 403],
        ['by a service of the company', { email, role: 'viewer' }, await of(), 409],
        ['by a token that only reads', { email, role: 'viewer' }, await reading(), 403],
      ];
      for (const [name, json, token, status] of refusals)
        expect([name, (await ask(json, token)).status]).toEqual([name, status]);
      await service.database.query("UPDATE users SET operator_role = 'support' WHERE id = $1", [inviter.id]);
      expect((await ask({ email, role: 'viewer' })).status).toBeGreaterThanOrEqual(401);
      expect([await audited(), smtp.to(email)]).toEqual([[], []]);
    });
    const reading = () => service.make.adminToken(['admin:read'], inviter);

    it('refuses without mail, and a new admin with FOUR_EYES', async () => {
      const { make, http } = await sharedService();
      const admin = await make.user({ role: 'operator', operatorRole: 'admin' });
      const json = { email, role: 'viewer' };
      const withoutMail = await http.send(API, { bearer: await make.adminToken(SCOPES, admin), json });
      expect(withoutMail.status).toBe(404);
      const asked = { bearer: bearer.own, json: { email, role: 'admin' } };
      expect((await careful.http.send(API, asked)).status).toBe(409);
    });

    it('mails a link, never shows it, and says when to try again beyond 5 to an address in an hour, as the console does', async () => {
      const { status, json, text } = await ask({ email, role: 'support' });
      expect([status, json]).toEqual([
        201,
        {
          id: expect.stringMatching(/^mbiv/),
          email,
          role: 'support',
          invited_by: inviter.id,
          created_at: expect.any(String),
          expires_at: expect.any(String),
        },
      ]);
      const link = await linkOf();
      expect([text.includes(link), await open()]).toEqual([false, [json]]);
      expect(wordsOf(await newBrowser().open(link))).toContain('with the role support');
      for (let n = 1; n < 5; n++) expect((await ask({ email, role: 'viewer' })).status).toBe(201);
      for (const refused of [await ask({ email, role: 'viewer' }), await invite('viewer')])
        expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
      expect(await open()).toHaveLength(1);
    });

    describe('mails strangers no more than members do, with its clients and the console together:', () => {
      const strangers = (n: number) =>
        Array.from({ length: n }, () => `stranger${++counter}@elsewhere.example`);
      const sent = async (addresses: string[]) =>
        (
          await service.database.query<{ email: string }>(
            'SELECT email FROM organisation_invitations WHERE email = ANY ($1) ORDER BY email',
            [addresses],
          )
        ).length;
      const expectRefused = async (page: Page, answer: Answer, why: string) => {
        expect([page.status, wordsOf(page)]).toEqual([429, expect.stringContaining(why)]);
        expect([answer.status, answer.json.detail]).toEqual([429, expect.stringContaining(why)]);
        for (const each of [page, answer]) expectRetryAfter(each, 3600);
      };

      it('20 an hour for an admin, also if they are withdrawn', async () => {
        await forget();
        const addresses = strangers(22);
        const another = await service.make.adminToken(SCOPES, inviter);
        const { json } = await ask({ email: addresses[0]!, role: 'viewer' });
        await service.http.send(`${API}/${json.id as string}`, { method: 'DELETE', bearer: bearer.own });
        expect((await invite('viewer', addresses[1])).status).toBe(303);
        const answers = await Promise.all(
          addresses
            .slice(2, 20)
            .map((address, n) => ask({ email: address, role: 'viewer' }, n % 2 ? another : undefined)),
        );
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
        await expectRefused(
          await invite('viewer', addresses[20]),
          await ask({ email: addresses[21]!, role: 'viewer' }),
          'Nothing was sent: you have sent 20 mails within an hour. Try again in',
        );
        expect(await sent(addresses)).toBe(19);
        await service.database.query('DELETE FROM organisation_invitations');
      });

      it('20 an hour for all admins together', async () => {
        await forget();
        const addresses = strangers(22);
        const other = await service.make.user({ role: 'operator', operatorRole: 'admin' });
        const others = await service.make.adminToken(SCOPES, other);
        for (const [n, address] of addresses.slice(0, 20).entries())
          expect((await ask({ email: address, role: 'viewer' }, n % 2 ? others : undefined)).status).toBe(
            201,
          );
        await expectRefused(
          await invite('viewer', addresses[20]),
          await ask({ email: addresses[21]!, role: 'viewer' }, others),
          'Nothing was sent: the admins together have sent 20 mails within an hour.',
        );
        await service.database.query('DELETE FROM organisation_invitations');
        await forget();
      });

      /** The other tests have mailed, too. */
      const forget = () =>
        service.app.get<RateLimitStore>(RATE_LIMIT_STORE, { strict: false }).clear('mail-of-admins:all');
    });

    it('withdraws, once, and never one of an organisation', async () => {
      const { json } = await ask({ email, role: 'viewer' });
      const link = await linkOf();
      const id = json.id as string;
      const withdraw = async () =>
        (await service.http.send(`${API}/${id}`, { method: 'DELETE', bearer: bearer.own })).status;
      const { id: organisationId } = await service.make.user({ kind: 'organisation' });
      await service.app.get(InvitationsService).invite(organisationId, email, 'viewer', SERVICE_ACTOR);
      expect(await open()).toHaveLength(1);
      expect([await withdraw(), await withdraw()]).toEqual([204, 404]);
      expect((await newBrowser().open(link)).status).toBe(410);
      const events = await service.database.query<{ action: string; actor_type: string }>(
        'SELECT action, actor_type FROM audit_events WHERE subject_id = $1 ORDER BY id',
        [id],
      );
      expect(events).toEqual([
        { action: 'invitation.sent', actor_type: 'client' },
        { action: 'invitation.withdrawn', actor_type: 'client' },
      ]);
    });
  });

  describe('by a mail whose link', () => {
    it('makes an operator of someone without an account, once, with the role that was given', async () => {
      expect((await invite('support')).status).toBe(303);
      const link = await linkOf();
      const browser = newBrowser();
      const page = await browser.open(link);
      expect(wordsOf(page)).toContain('invites you to its console, with the role support');
      const wrong = await signUp(page, link, browser, { password_again: 'other' });
      expect([wrong.status, errorAt(wrong, 'password-again')]).toEqual([
        400,
        'The two passwords are not the same.',
      ]);
      // What the form does not ask for changes nothing.
      const more = { role: 'admin', operator_role: 'admin' };
      const answers = await Promise.all(
        [1, 2, 3].map(() => signUp(page, link, browser, { ...more, ...postedAnew() })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(await account()).toEqual({ role: 'operator', operatorRole: 'support', isVerified: true });
      expect((await newBrowser().open(link)).status).toBe(410);
      const user = (await users().findByEmail(email))!;
      expect(await audited()).toEqual([
        { action: 'invitation.sent', actor_id: inviter.id, after: { role: 'support' } },
        {
          action: 'invitation.accepted',
          actor_id: user.id,
          after: { user_id: user.id, role: 'support', invited_by: inviter.id },
        },
      ]);
      await browser.logIn(email, NEW_PASSWORD.password);
      expect((await browser.open(CONSOLE)).status).toBe(200);
      expect((await browser.open(NEW)).status).toBe(403);
    });

    it('gives the role to whoever is logged in with its address, once, and ends what opened the account before', async () => {
      const link = await invited('viewer');
      const user = await service.make.user({ email, emailVerified: true });
      const browser = newBrowser();
      expect(leadsTo(await browser.open(link))).toBe(`/login?return_to=${encodeURIComponent(link)}`);
      const elsewhere = await signedInAs(user);
      await browser.logIn(email, PASSWORD);
      const page = await browser.open(link);
      const wrong = await browser.submit(page, link, { password: 'short', password_again: 'short' });
      expect([wrong.status, errorAt(wrong, 'password')]).toEqual([
        400,
        'The password must have 12 to 256 characters.',
      ]);
      expect((await account())!.role).toBe('user');
      const answers = await Promise.all(
        [1, 2, 3].map(() => browser.submit(page, link, { ...NEW_PASSWORD, ...postedAnew() })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(await account()).toEqual({ role: 'operator', operatorRole: 'viewer', isVerified: true });
      // The browsers and the password from before open nothing any more.
      for (const old of [elsewhere, browser]) expect((await old.open('/account')).status).toBe(302);
      await expect(newBrowser().logIn(email, PASSWORD)).rejects.toThrow('not signed in');
      const after = newBrowser();
      await after.logIn(email, NEW_PASSWORD.password);
      expect((await after.open(CONSOLE)).status).toBe(200);
      await until('the person is told', () =>
        smtp.to(email).some(({ subject }) => subject === 'Your access to the console changed'),
      );
    });

    it('is for nobody else, nor for an address that is not verified', async () => {
      const link = await invited('admin');
      const other = await signedInAs(await service.make.user({ emailVerified: true }));
      expect(wordsOf(await other.open(link))).toContain('another address');
      const browser = await signedInAs(await service.make.user({ email, emailVerified: true }));
      const page = await browser.open(link);
      await service.database.query('UPDATE users SET email_verified_at = NULL WHERE email = $1', [email]);
      expect((await browser.submit(page, link, NEW_PASSWORD)).status).toBe(403);
      expect((await account())!.role).toBe('user');
    });

    it('is used up by nobody who is an operator already', async () => {
      const link = await invited('admin');
      const user = await service.make.user({
        email,
        emailVerified: true,
        role: 'operator',
        operatorRole: 'viewer',
      });
      const answer = await (await signedInAs(user)).fillIn(link, NEW_PASSWORD);
      expect([answer.status, wordsOf(answer)]).toEqual([409, expect.stringContaining('an operator already')]);
      expect((await account())!.operatorRole).toBe('viewer');
    });

    it('ends after 7 days, when it is withdrawn, and when the address is invited again', async () => {
      const first = await invited();
      await invite('viewer');
      const second = await linkOf(2);
      const browser = await admin();
      const list = await browser.open(LIST);
      const rows = list.html.querySelectorAll('tbody tr').filter(({ text }) => text.includes(email));
      expect(rows.map(({ text }) => text.includes(inviter.name))).toEqual([true]);
      expect((await newBrowser().open(first)).status).toBe(410);
      expect((await newBrowser().open(second)).status).toBe(200);
      const withdraw = rows[0]!.querySelector('form')!.getAttribute('action')!;
      expect((await browser.submit(list, withdraw)).status).toBe(303);
      expect((await browser.submit(list, withdraw, postedAnew())).status).toBe(404);
      expect((await newBrowser().open(second)).status).toBe(410);
      await invite('viewer');
      await service.database.query(
        "UPDATE organisation_invitations SET expires_at = now() - interval '1 second' WHERE email = $1",
        [email],
      );
      expect((await newBrowser().open(await linkOf(3))).status).toBe(410);
    });

    it.each([
      ['has another role', "operator_role = 'support'"],
      ['is disabled', 'enabled = false'],
    ])('does nothing once the admin behind it %s', async (_name, change) => {
      const link = await invited('admin');
      const browser = newBrowser();
      const page = await browser.open(link);
      await service.database.query(`UPDATE users SET ${change} WHERE id = $1`, [inviter.id]);
      expect((await signUp(page, link, browser)).status).toBe(410);
      expect((await newBrowser().open(link)).status).toBe(410);
      expect(await account()).toBeNull();
    });

    it('is no way back for someone who has become an operator otherwise, and has lost the role', async () => {
      const link = await invited('admin');
      const user = await service.make.user({ email, emailVerified: true });
      const role = { role: 'operator', operatorRole: 'viewer', emailVerified: true } as const;
      await users().update(user.id, role, SERVICE_ACTOR);
      expect((await newBrowser().open(link)).status).toBe(302);
      await users().update(user.id, { role: 'user', password: PASSWORD }, SERVICE_ACTOR);
      expect((await (await signedInAs(user)).open(link)).status).toBe(410);
      expect((await account())!.role).toBe('user');
      expect((await audited()).map(({ action }) => action)).toEqual([
        'invitation.sent',
        'invitation.withdrawn',
      ]);
    });

    it.each([
      ['and another address, too', [{ email: MOVED, role: 'user' }]],
      ['after another address', [{ email: MOVED, emailVerified: true }, { role: 'user' }]],
    ] as const)('is no way back for someone who has lost the role, %s', async (_name, steps) => {
      const link = await invited('admin');
      const user = await service.make.user({ email, emailVerified: true });
      const role = { role: 'operator', operatorRole: 'viewer', emailVerified: true } as const;
      await users().update(user.id, role, SERVICE_ACTOR);
      for (const step of steps) {
        const changes = 'email' in step ? { ...step, email: `${user.id}${step.email}` } : step;
        await users().update(user.id, changes, SERVICE_ACTOR);
      }
      expect((await newBrowser().open(link)).status).toBe(410);
    });

    it('ends with the account of the admin behind it, which the audit log says', async () => {
      const link = await invited('viewer');
      await service.make.user({ role: 'operator', operatorRole: 'admin' });
      await users().erase(inviter.id, SERVICE_ACTOR);
      expect((await newBrowser().open(link)).status).toBe(410);
      expect((await audited()).map(({ action }) => action)).toEqual([
        'invitation.sent',
        'invitation.withdrawn',
      ]);
    });

    it.each([
      ['has another role', { operatorRole: 'support' }, { operatorRole: 'admin' }],
      ['is disabled', { enabled: false }, { enabled: true }],
    ] as const)(
      'does not work again after the admin behind it %s for a time',
      async (_name, ending, again) => {
        const link = await invited('admin');
        await service.make.user({ role: 'operator', operatorRole: 'admin' });
        await users().update(inviter.id, ending, SERVICE_ACTOR);
        await users().update(inviter.id, again, SERVICE_ACTOR);
        expect((await newBrowser().open(link)).status).toBe(410);
        expect((await audited()).map(({ action }) => action)).toEqual([
          'invitation.sent',
          'invitation.withdrawn',
        ]);
      },
    );
  });
});

import { randomUUID } from 'node:crypto';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { type BrowserSession, type Page, placeOf } from '../support/spec.js';
import { setUpApp, setUpPasskey } from '../support/factors-without-pages.js';
import { whileHeld } from '../support/held-rows.js';
import { MEMBERS, setUpOrganisation, SIGN_IN } from '../support/organisation.js';
import { codeOf, openNewPasskey } from '../support/second-factors.js';
import { SoftwarePasskey } from '../support/software-passkey.js';

/*
 * A request is admitted by a session. Before it has the lock on the user, another transaction, such as a change of password, has it and
 * ends all sessions.
 */
describe('A session that ends while a change waits for the account', () => {
  const own = setUpOrganisation();
  const { signedIn, inPortal, member, invite } = own;
  let { service, smtp, owner, email } = own;
  let user: UserEntity;
  beforeEach(async () => {
    ({ service, smtp, owner, email } = own);
    user = await service.make.user();
  });

  /** Everything of the account that these changes concern. */
  const stateOf = ({ id }: UserEntity) =>
    service.database.query(
      `SELECT u.email, u.name, u.enabled, u.unwanted_mails,
              ARRAY(SELECT id FROM passkeys WHERE user_id = u.id ORDER BY id) AS passkeys,
              ARRAY(SELECT confirmed_at FROM authenticator_apps WHERE user_id = u.id) AS apps,
              ARRAY(SELECT encode(digest, 'hex') FROM recovery_codes WHERE user_id = u.id ORDER BY 1) AS codes,
              ARRAY(SELECT subject FROM identities WHERE user_id = u.id) AS identities,
              ARRAY(SELECT user_id || role FROM organisation_members
                     WHERE u.id IN (organisation_id, user_id) ORDER BY user_id) AS members,
              ARRAY(SELECT email FROM organisation_invitations WHERE organisation_id = u.id ORDER BY id) AS invitations,
              (SELECT count(*) FROM audit_events WHERE actor_id = u.id) AS done
         FROM users u WHERE u.id = $1`,
      [id],
    );

  /** Sends it while the sessions of the user end; it must be refused, and lead to `place`, which asks for a login. */
  async function expectRefused(
    browser: BrowserSession,
    of: UserEntity,
    send: () => Promise<Page>,
    place: string,
  ): Promise<void> {
    const before = await stateOf(of);
    const ending = `WITH held AS (UPDATE users SET updated_at = now() WHERE id = $1 RETURNING id)
                    DELETE FROM sessions USING held WHERE user_id = held.id`;
    const [answer] = await whileHeld(service, [ending, [of.id]], [send], 'COMMIT');
    expect(await stateOf(of)).toEqual(before);
    expect(placeOf(answer!)).toEqual([303, place]);
    expect(answer!.headers.getSetCookie().join()).not.toMatch(/_notice=|shown_once/);
    expect((await browser.open(place)).status).toBe(302);
  }

  type Prepare = (browser: BrowserSession) => Promise<() => Promise<Page>>;
  const form =
    (path: string, fields = {}, from = path): Prepare =>
    async (browser) => {
      const page = await browser.open(from);
      return () => browser.submit(page, path, fields);
    };

  it.each(
    Object.entries<Prepare>({
      'adds no passkey': async (browser) => {
        const { options, send } = await openNewPasskey(browser);
        const response = new SoftwarePasskey(service.url).create(options);
        return () => send(response);
      },
      'adds no authenticator app': async (browser) => {
        const path = '/account/security/app/new';
        const page = await browser.open(path);
        const secret = page.html.querySelector('code.secret')!.text.replaceAll(' ', '');
        return () => browser.submit(page, path, { code: codeOf(secret) });
      },
      'removes no passkey': async (browser) => {
        await setUpPasskey(service, browser);
        const id = await service.database.value<string>('SELECT id FROM passkeys WHERE user_id = $1', [
          user.id,
        ]);
        return form(`/account/security/passkeys/${id}/remove`)(browser);
      },
      'removes no authenticator app': async (browser) => {
        await setUpApp(service, browser);
        return form('/account/security/app/remove')(browser);
      },
      'makes no recovery codes': async (browser) => {
        await setUpApp(service, browser);
        return form('/account/security/recovery-codes')(browser);
      },
      'chooses no mails': form('/account/email', { do: 'choose' }),
    }),
  )('%s', async (_what, prepare) => {
    const browser = await signedIn(user);
    await expectRefused(browser, user, await prepare(browser), '/account');
  });

  it('that has expired by then adds nothing either', async () => {
    const { options, send } = await openNewPasskey(await signedIn(user));
    const response = new SoftwarePasskey(service.url).create(options);
    const expiry = `WITH held AS (UPDATE users SET updated_at = now() WHERE id = $1 RETURNING id)
                    UPDATE sessions SET expires_at = now() - interval '1 second' FROM held WHERE user_id = held.id`;
    const [answer] = await whileHeld(service, [expiry, [user.id]], [() => send(response)], 'COMMIT');
    expect(answer!.headers.get('location')).toBe('/account');
    expect(await stateOf(user)).toMatchObject([{ passkeys: [] }]);
  });

  it('accepts no invitation', async () => {
    await invite(await inPortal(owner));
    const link = new URL((await smtp.mailTo(email)).link).pathname;
    user = await service.make.user({ email, emailVerified: true });
    const browser = await signedIn(user);
    const login = `/login?return_to=${encodeURIComponent(link)}`;
    const before = await stateOf(owner);
    const page = await browser.open(link);
    const ending = `WITH held AS (UPDATE users SET updated_at = now() WHERE id = $1 RETURNING id)
                    DELETE FROM sessions USING held WHERE user_id = held.id`;
    const [answer] = await whileHeld(
      service,
      [ending, [user.id]],
      [() => browser.submit(page, link)],
      'COMMIT',
    );
    expect(placeOf(answer!)).toEqual([302, login]);
    expect(await stateOf(owner)).toEqual(before);
  });

  describe('in the portal', () => {
    it('invites nobody', async () => {
      const browser = await inPortal(owner);
      await expectRefused(browser, owner, await form(MEMBERS, { email })(browser), SIGN_IN);
    });

    it.each([
      ['changes no role', '', { role: 'admin' }],
      ['removes no member', '/remove', {}],
    ])('%s', async (_what, action, fields) => {
      const browser = await inPortal(owner);
      const path = `${MEMBERS}/${(await member('viewer')).id}${action}`;
      await expectRefused(browser, owner, await form(path, fields)(browser), SIGN_IN);
    });

    describe('or the role of a member who is an admin', () => {
      const LOWERED = "UPDATE organisation_members SET role = 'viewer'";
      const REMOVED = 'DELETE FROM organisation_members';

      it.each<[string, string, (other: UserEntity, self: UserEntity) => Prepare]>([
        ['gives it back', LOWERED, (_other, self) => form(`${MEMBERS}/${self.id}`, { role: 'admin' })],
        ['gives it to another', REMOVED, (other) => form(`${MEMBERS}/${other.id}`, { role: 'admin' })],
        ['removes another', LOWERED, (other) => form(`${MEMBERS}/${other.id}/remove`)],
        ['invites', REMOVED, () => form(MEMBERS, { email, role: 'admin' })],
        [
          'withdraws an invitation',
          LOWERED,
          () => async (browser) => {
            await invite(browser);
            const page = await browser.open(MEMBERS);
            const action = page.html.querySelector('form[action*="/withdraw/"]')!.getAttribute('action')!;
            return () => browser.submit(page, action);
          },
        ],
      ])('%s: not any more', async (_what, ending, prepare) => {
        const [self, other] = [await member('admin'), await member('viewer')];
        const browser = await inPortal(self);
        const send = await prepare(other, self)(browser);
        const others = () =>
          service.database.query(
            `SELECT user_id || role AS members FROM organisation_members WHERE organisation_id = $1 AND user_id <> $2
             UNION ALL SELECT email FROM organisation_invitations WHERE organisation_id = $1 ORDER BY 1`,
            [owner.id, self.id],
          );
        const before = await others();
        const held = 'WITH held AS (UPDATE users SET updated_at = now() WHERE id = $1 RETURNING id)';
        const with_ = ending === LOWERED ? 'FROM' : 'USING';
        const sql = `${held} ${ending} ${with_} held WHERE organisation_id = held.id AND user_id = $2`;
        const [answer] = await whileHeld(service, [sql, [owner.id, self.id]], [send], 'COMMIT');
        expect(answer!.status).toBe(403);
        expect(await others()).toEqual(before);
        const roles = await service.database.query(
          'SELECT role FROM organisation_members WHERE organisation_id = $1 AND user_id = $2',
          [owner.id, self.id],
        );
        expect(roles).toEqual(ending === LOWERED ? [{ role: 'viewer' }] : []);
      });
    });
  });

  describe('in the console', () => {
    const operator = async () => (user = await service.make.user({ role: 'operator' }));

    it('does not change the account', async () => {
      const browser = await signedIn(await operator());
      const path = `/admin/console/users/${user.id}/edit`;
      const send = await form(path, { email: `thief-${randomUUID()}@mail.example` })(browser);
      await expectRefused(browser, user, send, '/admin/console');
    });

    it('removes no identity', async () => {
      const browser = await signedIn(await operator());
      await service.database.query(
        "INSERT INTO identities (issuer, subject, user_id, provider) VALUES ('https://idp.example', $1, $1, 'idp')",
        [user.id],
      );
      const path = `/admin/console/users/${user.id}/identities/idp/remove`;
      await expectRefused(browser, user, await form(path)(browser), '/admin/console');
    });

    it('decides no request', async () => {
      const browser = await signedIn(await operator());
      const id = `ruri${own.client.id.slice(4)}`;
      await service.database.query(
        `INSERT INTO redirect_uri_requests (id, client_id, action, uri, requested_by)
         VALUES ($1, $2, 'add', 'https://thief.example/', $3)`,
        [id, own.client.id, owner.id],
      );
      const path = `/admin/console/redirect-uris/${id}`;
      const send = await form(`${path}/approve`, {}, path)(browser);
      await expectRefused(browser, user, send, '/admin/console');
    });
  });
});

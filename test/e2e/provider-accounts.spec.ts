import { IdentitiesRepository } from '#access/identity-providers/identities.repository.js';
import { UsersRepository } from '#access/users/accounts/users.repository.js';
import { actionsOn, lastRefusal } from '../support/audit-events.js';
import { IdentityProvider, PersonBrowser, type TestPerson } from '../support/identity-provider.js';
import { useServiceWithProvider } from '../support/set-up.js';

const ROLES = { role_claim: 'groups', roles: { staff: 'viewer', admins: 'admin' } };
const SCOPE = 'openid email profile groups';
const PROVIDERS = [
  { id: 'company', accounts: 'create' },
  { id: 'linking', accounts: 'verified_email' },
  { id: 'by-hand', accounts: 'linked' },
  { id: 'staff', accounts: 'create', audience: ['operators'], scope: SCOPE, ...ROLES },
  { id: 'everybody', accounts: 'create', audience: ['users', 'operators'], scope: SCOPE, ...ROLES },
];

let n = 0;
/** A new person at the provider, with a verified address. */
const newPerson = (more: TestPerson = {}): [sub: string, person: TestPerson & { email: string }] => {
  const sub = `person${++n}`;
  return [sub, { email: `${sub}@mail.example`, email_verified: true, name: `Person ${n}`, ...more } as never];
};

describe('The account of a person who logs in through a provider', () => {
  const idp = new IdentityProvider();
  const service = useServiceWithProvider(idp, PROVIDERS, { instances: 2 });
  const newBrowser = () => new PersonBrowser(service.url, idp.url);
  const add = (more: TestPerson = {}) => {
    const [sub, person] = newPerson(more);
    idp.people.set(sub, person);
    return { sub, email: person.email };
  };
  /** Someone whose account is linked by this entry for the provider. */
  const addLinked = async (provider = 'company') => {
    const { sub, email } = add();
    const user = await service.make.user({ email, emailVerified: true });
    await service.database.query(
      'INSERT INTO identities (issuer, subject, user_id, provider) VALUES ($1, $2, $3, $4)',
      [idp.url, sub, user.id, provider],
    );
    return { sub, email, user };
  };
  const userOf = (email: string) => service.app.get(UsersRepository).findByEmailWithPassword(email);
  /** Expects a login at the provider to be refused for this reason. */
  const expectRefused = async (sub: string, reason: string, id?: string) =>
    expect([(await newBrowser().logIn(sub, id)).status, await lastRefusal(service)]).toEqual([403, reason]);
  const expectOnlyOne = async (sub: string, email: string) => {
    const users = await service.database.query('SELECT 1 FROM users WHERE email = $1', [email]);
    const links = await service.database.query('SELECT 1 FROM identities WHERE subject = $1', [sub]);
    expect([users.length, links.length]).toEqual([1, 1]);
  };

  it('is made with the name and address there, without a password, and audited', async () => {
    const { sub, email } = add({ name: 'Ada Driver' });
    const browser = newBrowser();
    const answer = await browser.logIn(sub, 'company', '/account/sessions');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account/sessions']);
    const page = await browser.service.open('/account');
    for (const words of ['Ada Driver', email]) expect(page.html.text).toContain(words);
    const user = (await userOf(email))!;
    expect(user).toMatchObject({ name: 'Ada Driver', role: 'user', passwordHash: null });
    expect(user.emailVerifiedAt).not.toBeNull();
    expect(await actionsOn(service, user.id)).toEqual([
      'user.created',
      'user.identity_linked',
      'session.started',
    ]);
  });

  it('is made under the address if the name there cannot be shown', async () => {
    const { sub, email } = add({ name: 'Ada\u202eevil' });
    await newBrowser().logIn(sub);
    expect((await userOf(email))!.name).toBe(sub);
  });

  it('is found by issuer and subject later, whatever the address there is', async () => {
    const { sub, email } = await addLinked();
    idp.people.set(sub, { email: 'new@other.example', email_verified: false });
    const browser = newBrowser();
    expect((await browser.logIn(sub)).status).toBe(303);
    expect((await browser.service.open('/account')).html.text).toContain(email);
  });

  it('is linked by a verified address, however it is written, and the user is told', async () => {
    const { sub, email } = add();
    const user = await service.make.user({ email: email.toUpperCase() });
    const browser = newBrowser();
    expect((await browser.logIn(sub, 'linking')).status).toBe(303);
    const page = await browser.service.open('/account/notifications');
    expect(page.html.text).toContain('linked to “Example Company”');
    expect((await browser.service.open('/account/sessions')).html.text).toContain('Example Company');
    expect(await actionsOn(service, user.id)).toContain('user.identity_linked');
    expect((await userOf(email))!.emailVerifiedAt).not.toBeNull();
  });

  it('has a verified address only if the provider calls this one verified', async () => {
    const { sub, email } = await addLinked();
    await service.database.query('UPDATE users SET email_verified_at = NULL WHERE email = $1', [email]);
    idp.people.set(sub, { email, email_verified: false });
    await newBrowser().logIn(sub);
    expect((await userOf(email))!.emailVerifiedAt).toBeNull();
    idp.people.set(sub, { email, email_verified: true });
    await newBrowser().logIn(sub);
    expect((await userOf(email))!.emailVerifiedAt).not.toBeNull();
  });

  it('is not linked by an address that is not verified', async () => {
    const { sub, email } = add({ email_verified: false });
    await service.make.user({ email });
    await expectRefused(sub, 'email_not_verified', 'linking');
  });

  it('is not made where accounts are only linked', async () => {
    const { sub } = add();
    await expectRefused(sub, 'no_account', 'linking');
  });

  it('is not linked where that is done by hand', async () => {
    const { sub, email } = add();
    await service.make.user({ email });
    await expectRefused(sub, 'no_account', 'by-hand');
  });

  it('is not given to someone else who got the address there', async () => {
    const { email } = await addLinked();
    const successor = add({ email });
    await expectRefused(successor.sub, 'no_account');
  });

  it('is theirs after the entry has got another issuer, with the one link that works', async () => {
    const { sub, email } = add();
    const user = await service.make.user({ email, emailVerified: true });
    await service.database.query(
      "INSERT INTO identities (issuer, subject, user_id, provider) VALUES ('https://former.example', $1, $2, 'company')",
      [sub, user.id],
    );
    expect((await newBrowser().logIn(sub)).status).toBe(303);
    const links = await service.database.query(
      'SELECT issuer, subject, provider FROM identities WHERE user_id = $1',
      [user.id],
    );
    expect(links).toEqual([{ issuer: idp.url, subject: sub, provider: 'company' }]);
    expect(await actionsOn(service, user.id, 'user.identity')).toEqual([
      'user.identity_removed',
      'user.identity_linked',
    ]);
    expect((await newBrowser().logIn(sub)).status).toBe(303);
  });

  it('is not given to them by another entry for the provider either, or after the id of the entry has changed', async () => {
    const { sub, email } = await addLinked();
    const successor = add({ email });
    for (const id of ['linking', 'everybody']) await expectRefused(successor.sub, 'no_account', id);
    await service.database.query("UPDATE identities SET provider = 'former' WHERE subject = $1", [sub]);
    await expectRefused(successor.sub, 'no_account', 'company');
    expect((await newBrowser().logIn(sub, 'company')).status).toBe(303);
  });

  it('that is disabled loses a role that is gone there, and gains none', async () => {
    await service.make.user({ role: 'operator' });
    const { sub, email } = add({ groups: ['admins'] });
    await newBrowser().logIn(sub, 'staff');
    await service.database.query('UPDATE users SET enabled = false WHERE email = $1', [email]);
    idp.people.set(sub, { email, email_verified: true, groups: ['staff'] });
    await expectRefused(sub, 'account_disabled', 'staff');
    expect((await userOf(email))!.operatorRole).toBe('viewer');
    idp.people.set(sub, { email, email_verified: true, groups: ['admins'] });
    await expectRefused(sub, 'account_disabled', 'staff');
    expect((await userOf(email))!.operatorRole).toBe('viewer');
  });

  it('that is disabled is refused, linked or not', async () => {
    const { sub, email } = await addLinked();
    await service.database.query('UPDATE users SET enabled = false WHERE email = $1', [email]);
    await expectRefused(sub, 'account_disabled');
    await service.database.query('DELETE FROM identities WHERE subject = $1', [sub]);
    await expectRefused(sub, 'account_disabled');
  });

  it('of an operator is neither linked by nor let in through a provider of users', async () => {
    const { sub, email } = add();
    await service.make.user({ email, role: 'operator' });
    await expectRefused(sub, 'not_for_you');
    const other = await addLinked();
    await service.database.query("UPDATE users SET role = 'operator' WHERE email = $1", [other.email]);
    await expectRefused(other.sub, 'not_for_you');
  });

  it.each([['staff'], [['guests', 'admins']]])('becomes an operator by the claim %j', async (groups) => {
    const { sub, email } = add({ groups });
    const browser = newBrowser();
    expect((await browser.logIn(sub, 'staff')).status).toBe(303);
    expect((await userOf(email))!.role).toBe('operator');
    expect((await browser.service.open('/admin/console')).status).toBe(200);
  });

  it('stays an admin without the claim as long as there is no other', async () => {
    const { sub, email } = add({ groups: ['admins'] });
    await newBrowser().logIn(sub, 'staff');
    await service.database.query(
      "UPDATE users SET enabled = false WHERE operator_role = 'admin' AND email <> $1",
      [email],
    );
    idp.people.set(sub, { email, email_verified: true, groups: ['guests'] });
    expect((await newBrowser().logIn(sub, 'staff')).status).toBe(303);
    expect((await userOf(email))!.operatorRole).toBe('admin');
  });

  it('is no operator any more once the claim is gone: sessions end, and it is audited', async () => {
    await service.make.user({ role: 'operator' });
    const { sub, email } = add({ groups: ['admins'] });
    const before = newBrowser();
    await before.logIn(sub, 'staff');
    idp.people.set(sub, { email, email_verified: true, groups: ['guests'] });
    await expectRefused(sub, 'not_for_you', 'staff');
    const user = (await userOf(email))!;
    expect(user.role).toBe('user');
    expect(await actionsOn(service, user.id)).toContain('user.updated');
    expect((await before.service.open('/admin/console')).status).toBe(302);
  });

  it('of a provider for both is a user without the claim, and an operator with it', async () => {
    const { sub, email } = add();
    const steps: [groups: TestPerson['groups'], role: string | null][] = [
      [undefined, null],
      ['staff', 'viewer'],
      [['staff', 'admins', 'guests'], 'admin'],
    ];
    for (const [groups, role] of steps) {
      idp.people.set(sub, { email, email_verified: true, groups });
      expect((await newBrowser().logIn(sub, 'everybody')).status).toBe(303);
      expect((await userOf(email))!.operatorRole).toBe(role);
    }
  });

  it('keeps its link where it was made when another entry for the provider refuses it, which gets it with the role', async () => {
    const { sub, email, user } = await addLinked();
    const linkedTo = () =>
      service.database.query('SELECT provider FROM identities WHERE user_id = $1', [user.id]);
    await expectRefused(sub, 'not_for_you', 'staff');
    expect(await linkedTo()).toEqual([{ provider: 'company' }]);
    idp.people.set(sub, { email, email_verified: true, groups: ['staff'] });
    expect((await newBrowser().logIn(sub, 'staff')).status).toBe(303);
    expect(await linkedTo()).toEqual([{ provider: 'staff' }]);
  });

  it('is not made by a provider of operators for someone without the claim', async () => {
    const { sub, email } = add();
    await expectRefused(sub, 'not_for_you', 'staff');
    expect(await userOf(email)).toBeNull();
  });

  it('is one also if the person logs in for the first time in several browsers at once, on two instances', async () => {
    const { sub, email } = add();
    const browsers = [newBrowser(), newBrowser(), newBrowser(), newBrowser()];
    const callbacks = await Promise.all(browsers.map((browser) => browser.toCallback(sub)));
    const answers = await Promise.all(
      browsers.map(({ service: browser }, index) => {
        const { url } = service.instances[index % 2]!;
        return browser.open(callbacks[index]!.replace(service.url, url));
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    await expectOnlyOne(sub, email);
  });

  it('is the same if another sign-in links the person after this one has looked for a link', async () => {
    const { sub, email } = add();
    expect((await newBrowser().logIn(sub)).status).toBe(303);
    const found = service.instances.map(({ app }) =>
      jest.spyOn(app.get(IdentitiesRepository), 'findUserId').mockResolvedValueOnce(undefined),
    );
    expect((await newBrowser().logIn(sub)).status).toBe(303);
    expect(found.flatMap(({ mock }) => mock.calls)).toHaveLength(1);
    for (const each of found) each.mockRestore();
    await expectOnlyOne(sub, email);
  });

  it('when someone cancels there, is told so', async () => {
    const answer = await newBrowser().logIn('');
    expect([answer.status, await lastRefusal(service)]).toEqual([400, 'provider_refused']);
    expect(answer.html.querySelector('h1')?.text).toBe('The login was not completed');
  });

  it('counts refusals for the console, which lists them with help', async () => {
    const operator = await service.make.user({ role: 'operator' });
    const console = await (await service.make.signedIn(operator)).open('/admin/console');
    expect(console.html.text).toContain('Provider not for this kind of account');
    expect(console.html.text).toContain('Refused by the identity provider');
  });

  describe('in the admin API and the console', () => {
    const linked = async () => {
      const { sub, email } = add();
      const browser = newBrowser();
      await browser.logIn(sub);
      return { sub, browser, user: (await userOf(email))! };
    };

    it('lists its links, and loses one with the sessions that came from it', async () => {
      const { sub, browser, user } = await linked();
      const bearer = await service.make.adminToken();
      const path = `/admin/users/${user.id}/identities`;
      const list = await service.http.get(path, { bearer });
      const time = expect.stringMatching(/^\d{4}-.*Z$/);
      const identity = { provider: 'company', issuer: idp.url, subject: sub };
      expect(list.json).toEqual([{ ...identity, linked_at: time, last_used_at: time }]);
      const removed = await service.http.send(`${path}/company`, { method: 'DELETE', bearer });
      expect([removed.status, removed.text]).toEqual([204, '']);
      expect((await browser.service.open('/account')).status).toBe(302);
      expect((await service.http.send(`${path}/company`, { method: 'DELETE', bearer })).status).toBe(404);
      expect((await service.http.get(path, { bearer })).json).toEqual([]);
      expect(await actionsOn(service, user.id)).toContain('user.identity_removed');
    });

    it('loses with a link the sessions that came from other entries for the same provider', async () => {
      const { sub, browser, user } = await linked();
      const other = newBrowser();
      await other.logIn(sub, 'linking');
      const bearer = await service.make.adminToken();
      const path = `/admin/users/${user.id}/identities/company`;
      expect((await service.http.send(path, { method: 'DELETE', bearer })).status).toBe(204);
      for (const each of [browser, other]) expect((await each.service.open('/account')).status).toBe(302);
    });

    it('is 404 for an unknown user', async () => {
      const bearer = await service.make.adminToken();
      const unknown = `/admin/users/user01HN2NJ9NMRZBXT1H6FT9N7735/identities`;
      expect((await service.http.get(unknown, { bearer })).status).toBe(404);
    });

    it('shows the same in the console', async () => {
      const { sub, browser, user } = await linked();
      const operator = await service.make.signedIn(await service.make.user({ role: 'operator' }));
      const path = `/admin/console/users/${user.id}/identities`;
      expect((await operator.open(path)).html.querySelector('table')?.text).toContain(sub);
      const question = await operator.open(`${path}/company/remove`);
      const done = await operator.submit(question, `${path}/company/remove`);
      expect((await operator.open(done.headers.get('location')!)).html.text).toContain('Link removed');
      expect((await browser.service.open('/account')).status).toBe(302);
    });
  });
});

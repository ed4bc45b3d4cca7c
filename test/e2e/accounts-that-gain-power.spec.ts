import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession, PASSWORD, type TestClient, until } from '../support/spec.js';
import { setUpApp, setUpPasskey } from '../support/factors-without-pages.js';
import { IdentityProvider, PersonBrowser, type TestPerson } from '../support/identity-provider.js';
import { givePassword, logInWith } from '../support/second-factors.js';
import { useServiceWithMailAndProvider } from '../support/set-up.js';

const ROLES = { role_claim: 'groups', roles: { staff: 'viewer', admins: 'admin' } };
const SCOPE = 'openid email profile groups';
const PROVIDERS = [
  { id: 'drivers', accounts: 'create' },
  { id: 'staff', accounts: 'create', audience: ['operators'], scope: SCOPE, ...ROLES },
  { id: 'everybody', accounts: 'create', audience: ['users', 'operators'], scope: SCOPE, ...ROLES },
];

describe('What opened an account before', () => {
  const idp = new IdentityProvider();
  const { service, smtp } = useServiceWithMailAndProvider(idp, PROVIDERS);
  let n = 0;
  // Nobody in these tests is the last admin.
  beforeAll(async () => void (await service.make.user({ role: 'operator' })));

  const newBrowser = () => new PersonBrowser(service.url, idp.url);
  const newPerson = (more: TestPerson = {}) => {
    const sub = `gaining${++n}`;
    const email = `${sub}@mail.example`;
    idp.people.set(sub, { email, email_verified: true, ...more });
    return { sub, email };
  };
  const become = (sub: string, email: string, groups: string[]) =>
    idp.people.set(sub, { email, email_verified: true, groups });
  const users = () => service.app.get(UsersService);

  /** An account with everything that can open it, all of it set by someone else. */
  const opened = async (email: string) => {
    const user = await service.make.user({ email, emailVerified: true });
    const browser = await service.make.signedIn(user);
    await setUpApp(service, browser);
    const passkey = await setUpPasskey(service, browser);
    const pending = new BrowserSession(service.url);
    await givePassword(pending, user);
    const admin = await service.make.adminToken();
    const link = await service.http.send(`/admin/users/${user.id}/password_links`, {
      method: 'POST',
      bearer: admin,
    });
    return { user, browser, passkey, pending, link: new URL(link.json.url as string).pathname };
  };
  type Opened = Awaited<ReturnType<typeof opened>>;
  const rowsOf = async (user: UserEntity) => {
    const tables = ['passkeys', 'authenticator_apps', 'recovery_codes', 'password_links', 'pending_sign_ins'];
    const counts = tables.map(
      (table) => `(SELECT count(*) FROM ${table} WHERE user_id = u.id)::int AS ${table}`,
    );
    const [row] = await service.database.query<Record<string, unknown>>(
      `SELECT password_hash IS NOT NULL AS password, ${counts.join(', ')} FROM users u WHERE id = $1`,
      [user.id],
    );
    return row;
  };
  const NOTHING = {
    password: false,
    passkeys: 0,
    authenticator_apps: 0,
    recovery_codes: 0,
    password_links: 0,
    pending_sign_ins: 0,
  };
  const expectNothingOpens = async ({ user, browser, passkey, pending, link }: Opened) => {
    expect(await rowsOf(user)).toEqual(NOTHING);
    expect((await browser.open('/account')).status).toBe(302);
    expect((await new BrowserSession(service.url).open(link)).status).toBe(410);
    expect((await givePassword(new BrowserSession(service.url), user)).status).not.toBe(303);
    expect((await logInWith(passkey, new BrowserSession(service.url))).status).not.toBe(200);
    expect((await pending.open('/login/second-factor')).status).not.toBe(200);
  };
  const mailTo = async (email: string, words: string) => {
    await until(`a mail about ${words}`, () =>
      Promise.resolve(smtp.mails.some(({ to, text }) => to === email && text.includes(words))),
    );
  };

  it('ends when a person’s first sign-in at the provider links it and makes it an admin', async () => {
    const { sub, email } = newPerson({ groups: ['admins'] });
    const before = await opened(email);
    const person = newBrowser();
    expect((await person.logIn(sub, 'staff')).status).toBe(303);
    expect((await users().get(before.user.id)).operatorRole).toBe('admin');
    await expectNothingOpens(before);
    expect((await person.service.open('/admin/console')).status).toBe(200);
    await mailTo(email, 'password, passkeys');
  });

  it('ends when it is first linked, also without a role', async () => {
    const { sub, email } = newPerson();
    const before = await opened(email);
    const person = newBrowser();
    expect((await person.logIn(sub, 'drivers')).status).toBe(303);
    await expectNothingOpens(before);
    expect((await person.service.open('/account')).status).toBe(200);
    await mailTo(email, 'password, passkeys');
  });

  it('stays when an account that is linked signs in again', async () => {
    const { sub, email } = newPerson();
    await newBrowser().logIn(sub, 'drivers');
    const user = (await users().findByEmail(email))!;
    await users().update(user.id, { password: PASSWORD }, SERVICE_ACTOR);
    expect((await newBrowser().logIn(sub, 'drivers')).status).toBe(303);
    expect((await givePassword(new BrowserSession(service.url), user)).status).toBe(303);
  });

  it('ends when the provider gives a linked account a role, and a higher one, but not with a lower one', async () => {
    const { sub, email } = newPerson();
    await newBrowser().logIn(sub, 'everybody');
    const { id } = (await users().findByEmail(email))!;
    const steps: [groups: string[], role: string, ends: boolean][] = [
      [['staff'], 'viewer', true],
      [['staff', 'admins'], 'admin', true],
      [['staff'], 'viewer', false],
    ];
    for (const [groups, role, ends] of steps) {
      await users().update(id, { password: PASSWORD }, SERVICE_ACTOR);
      become(sub, email, groups);
      expect((await newBrowser().logIn(sub, 'everybody')).status).toBe(303);
      const user = await users().get(id);
      expect(user.operatorRole).toBe(role);
      expect([role, (await rowsOf(user))!.password]).toEqual([role, !ends]);
    }
  });

  it('ends also when the provider gives another address with the role: the earlier one is told of both', async () => {
    const { sub, email } = newPerson();
    await newBrowser().logIn(sub, 'everybody');
    const { id } = (await users().findByEmail(email))!;
    become(sub, `moved-${email}`, ['staff']);
    expect((await newBrowser().logIn(sub, 'everybody')).status).toBe(303);
    const user = await users().get(id);
    expect([user.operatorRole, user.email]).toEqual(['viewer', `moved-${email}`]);
    expect(user.emailVerifiedAt).not.toBeNull();
    for (const subject of ['Your access to the console changed', 'Your email address changed'])
      await until(`a mail “${subject}”`, () => smtp.to(email).some((mail) => mail.subject === subject));
  });

  it('ends when an admin makes someone an operator, or gives a higher role', async () => {
    const before = await opened(`made${++n}@mail.example`);
    const bearer = await service.make.adminToken();
    const patch = (json: object) =>
      service.http.send(`/admin/users/${before.user.id}`, { method: 'PATCH', bearer, json });
    expect((await patch({ role: 'operator', operator_role: 'viewer' })).status).toBe(200);
    await expectNothingOpens(before);
    await mailTo(before.user.email, 'password, passkeys');
    // An address that someone else may have set does not get a link either, until an admin vouches for it.
    expect((await users().get(before.user.id)).emailVerifiedAt).toBeNull();
    // The password that comes with the role is the admin's own.
    const changes = { operator_role: 'support', password: PASSWORD, email_verified: true };
    expect((await patch(changes)).status).toBe(200);
    expect(await rowsOf(before.user)).toEqual({ ...NOTHING, password: true });
    expect((await users().get(before.user.id)).emailVerifiedAt).not.toBeNull();
    expect((await patch({ operator_role: 'viewer' })).status).toBe(200);
    expect(await rowsOf(before.user)).toEqual({ ...NOTHING, password: true });
  });

  it('does not include the link that is mailed to an address that comes with the role', async () => {
    const user = await service.make.user({ email: `made${++n}@mail.example`, emailVerified: true });
    const [bearer, email] = [await service.make.adminToken(), `moved-${user.email}`];
    const json = { role: 'operator', operator_role: 'viewer', email };
    const path = `/admin/users/${user.id}`;
    expect((await service.http.send(path, { method: 'PATCH', bearer, json })).status).toBe(200);
    expect((await users().get(user.id)).emailVerifiedAt).toBeNull();
    const mail = await smtp.mailTo(email);
    expect(mail.subject).toBe('Confirm your email address');
    const link = new URL(mail.link).pathname;
    expect((await new BrowserSession(service.url).fillIn(link)).status).toBe(200);
    expect((await users().get(user.id)).emailVerifiedAt).not.toBeNull();
  });

  it('includes the links to other providers, which someone else may have made', async () => {
    const { sub, email } = newPerson();
    await newBrowser().logIn(sub, 'drivers');
    const user = (await users().findByEmail(email))!;
    await users().update(user.id, { role: 'operator', operatorRole: 'viewer' }, SERVICE_ACTOR);
    const links = await service.database.query('SELECT 1 FROM identities WHERE user_id = $1', [user.id]);
    expect(links).toEqual([]);
  });

  it('includes a forgotten password: an operator’s unverified address gets no link', async () => {
    const user = await service.make.user({ emailVerified: true });
    await users().update(user.id, { role: 'operator' }, SERVICE_ACTOR);
    const browser = new BrowserSession(service.url);
    const path = '/password/forgotten';
    const asked = await browser.submit(await browser.open(path), path, { email: user.email });
    expect(asked.status).toBeLessThan(400);
    expect(
      await service.database.query('SELECT 1 FROM password_links WHERE user_id = $1', [user.id]),
    ).toEqual([]);
  });

  it('a sign-in at the provider without the group ends the clients of the former operator', async () => {
    const { sub, email } = newPerson({ groups: ['admins'] });
    await newBrowser().logIn(sub, 'staff');
    const owner = (await users().findByEmail(email))!;
    const client: TestClient = await service.make.client({
      ownerId: owner.id,
      scopes: ['admin:read', 'admin:write'],
      grantTypes: ['client_credentials'],
      redirectUris: [],
    });
    const bearer = await service.make.clientToken(client);
    expect((await service.http.get('/admin/users', { bearer })).status).toBe(200);
    become(sub, email, ['guests']);
    expect((await newBrowser().logIn(sub, 'staff')).status).toBe(403);
    expect((await service.http.get('/admin/users', { bearer })).status).toBe(401);
    const [row] = await service.database.query('SELECT enabled FROM clients WHERE id = $1', [client.id]);
    expect(row).toEqual({ enabled: false });
  });
});

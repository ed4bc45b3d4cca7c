import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { IdentityProvider, PersonBrowser, type TestPerson } from '../support/identity-provider.js';
import { until, useServiceWithMailAndProvider } from '../support/spec.js';

const PROVIDERS = [
  { id: 'company', accounts: 'create' },
  { id: 'linking', accounts: 'verified_email' },
];

let people = 0;

describe('Name and address of an account that is linked to a provider', () => {
  const idp = new IdentityProvider();
  const { service, smtp } = useServiceWithMailAndProvider(idp, PROVIDERS);

  interface Row {
    id: string;
    name: string;
    email: string;
    verified: boolean;
  }
  const userOf = async (sub: string): Promise<Row> => {
    const [row] = await service.database.query<Row>(
      `SELECT u.id, u.name, u.email, u.email_verified_at IS NOT NULL AS verified
         FROM users u JOIN identities i ON i.user_id = u.id WHERE i.subject = $1`,
      [sub],
    );
    return row!;
  };
  const newSub = () => `profile${++people}`;
  const is = (sub: string, person: TestPerson): void => void idp.people.set(sub, person);
  const logIn = (sub: string, id = 'company') => new PersonBrowser(service.url, idp.url).logIn(sub, id);
  /** Someone who has logged in before. */
  const known = async (): Promise<[sub: string, email: string]> => {
    const [sub, name] = [newSub(), 'Ada Before'];
    const email = `${sub}@mail.example`;
    is(sub, { email, email_verified: true, name });
    const { id } = await service.make.user({ email, emailVerified: true, name });
    // As the first login there leaves it.
    await service.database.query('UPDATE users SET password_hash = NULL WHERE id = $1', [id]);
    await service.database.query(
      "INSERT INTO identities (issuer, subject, user_id, provider) VALUES ($1, $2, $3, 'company')",
      [idp.url, sub, id],
    );
    return [sub, email];
  };
  const subjectsTo = (address: string) => smtp.to(address).map(({ subject }) => subject);

  it.each<[string, TestPerson]>([
    ['that is not verified', { email: 'unverified@other.example', email_verified: false }],
    ['about which nothing is said', { email: 'unverified@other.example' }],
    ['that is missing', {}],
  ])('do not follow an address %s', async (_what, person) => {
    const [sub, email] = await known();
    is(sub, { name: 'Ada Before', ...person });
    expect((await logIn(sub)).status).toBe(303);
    expect(await userOf(sub)).toMatchObject({ email, verified: true });
  });

  it('do not follow to the address of another account, and the person is logged in all the same', async () => {
    const other = await service.make.user();
    const [sub, email] = await known();
    is(sub, { email: other.email.toUpperCase(), email_verified: true, name: 'Ada After' });
    expect((await logIn(sub)).status).toBe(303);
    expect(await userOf(sub)).toMatchObject({ email, name: 'Ada After' });
    expect(subjectsTo(email)).not.toContain('Your email address changed');
  });

  it('do not follow a name that cannot be shown, or none', async () => {
    const [sub, email] = await known();
    for (const name of ['Ada\u202eevil', '', undefined]) {
      is(sub, { email, email_verified: true, name });
      await logIn(sub);
      expect((await userOf(sub)).name).toBe('Ada Before');
    }
  });

  it('of an organisation: the name stays, it is not that of the person who logs in', async () => {
    const sub = newSub();
    const organisation = await service.make.user({ kind: 'organisation', name: 'Example Energy' });
    is(sub, { email: organisation.email, email_verified: true, name: 'Ada Lovelace' });
    await logIn(sub, 'linking');
    await logIn(sub, 'linking');
    expect(await userOf(sub)).toMatchObject({ id: organisation.id, name: 'Example Energy' });
  });

  it('follow the provider at each login, and the change is audited', async () => {
    const [sub, email] = await known();
    const { id } = await userOf(sub);
    const address = `${sub}@new.example`;
    is(sub, { email: address, email_verified: true, name: 'Ada After' });
    expect((await logIn(sub)).status).toBe(303);
    expect(await userOf(sub)).toEqual({ id, name: 'Ada After', email: address, verified: true });
    const [event] = await service.database.query(
      "SELECT before, after FROM audit_events WHERE subject_id = $1 AND action = 'user.updated'",
      [id],
    );
    expect(event).toMatchObject({
      before: { email, name: 'Ada Before' },
      after: { email: address, name: 'Ada After' },
    });
  });

  it('of an account that was there before follow it from the first login', async () => {
    const sub = newSub();
    const user = await service.make.user({ name: 'As The Operator Wrote' });
    is(sub, { email: user.email, email_verified: true, name: 'Ada Lovelace' });
    await logIn(sub, 'linking');
    expect(await userOf(sub)).toMatchObject({ id: user.id, name: 'Ada Lovelace' });
  });

  it('that change are told to the old address by mail, once, without the new one', async () => {
    const [sub, email] = await known();
    const address = `${sub}@new.example`;
    is(sub, { email: address, email_verified: true, name: 'Ada Before' });
    await logIn(sub);
    await logIn(sub);
    const told = () => smtp.to(email).filter(({ subject }) => subject === 'Your email address changed');
    await until('the old address is told', () => told().length > 0);
    // A mail that was written later has arrived: nothing more is on its way.
    const password = await service.make.user({ emailVerified: true });
    await service.make.signedIn(password);
    await smtp.mailTo(password.email);
    expect(told()).toHaveLength(1);
    expect(told()[0]!.text).toContain('Example Company');
    expect(told()[0]!.text).not.toContain(address);
  });

  it('that change end what was mailed to the old address, and no session', async () => {
    const [sub] = await known();
    const browser = new PersonBrowser(service.url, idp.url);
    await browser.logIn(sub);
    const { id } = await userOf(sub);
    const path = new URL(await service.app.get(PasswordLinksService).create(id, SERVICE_ACTOR)).pathname;
    expect((await service.http.send(path)).status).toBe(200);
    is(sub, { email: `${sub}@new.example`, email_verified: true, name: 'Ada Before' });
    await logIn(sub);
    expect((await service.http.send(path)).status).not.toBe(200);
    expect((await browser.service.open('/account')).status).toBe(200);
  });

  it('follow to the same address by two logins at once, of which one is told', async () => {
    const [sub, email] = await known();
    const { id } = await userOf(sub);
    is(sub, { email: `${sub}@new.example`, email_verified: true, name: 'Ada Before' });
    expect((await Promise.all([logIn(sub), logIn(sub)])).map(({ status }) => status)).toEqual([303, 303]);
    const told = await service.database.query(
      "SELECT 1 FROM notifications WHERE user_id = $1 AND message_id = 'ERR2502'",
      [id],
    );
    expect([told.length, (await userOf(sub)).email === email]).toEqual([1, false]);
  });

  it('of two people who get the same address there go to one of them', async () => {
    const [[one], [two]] = [await known(), await known()];
    const address = `${one}@shared.example`;
    for (const sub of [one, two]) is(sub, { email: address, email_verified: true, name: 'Ada Before' });
    expect((await Promise.all([logIn(one), logIn(two)])).map(({ status }) => status)).toEqual([303, 303]);
    const emails = [(await userOf(one)).email, (await userOf(two)).email];
    expect(emails.filter((email) => email === address)).toHaveLength(1);
  });
});

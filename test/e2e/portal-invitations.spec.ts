import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { MemberRole } from '#events/partners/members/member.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { newSecret } from '#platform/secrets/tokens.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { auditEventsOn } from '../support/audit-events.js';
import { type BrowserSession, errorAt, type Page, PASSWORD, postedAnew, wordsOf } from '../support/spec.js';
import { MEMBERS, setUpOrganisation } from '../support/organisation.js';
import { expectRetryAfter } from '../support/rate-limits.js';

const own = setUpOrganisation();
const { service, smtp, newBrowser, signedIn, openPortal, inPortal, member, invite } = own;
let { owner, email } = own;
beforeEach(() => void ({ owner, email } = own));

/** The path of the form on the page that begins like this. */
const formOn = (page: Page, start: string): string =>
  page.html
    .querySelectorAll('form')
    .map((form) => form.getAttribute('action')!)
    .find((action) => action.startsWith(start))!;

/** What the menu in the side bar says of whoever is logged in. */
const menuOf = (page: Page): string => page.html.querySelector('.visitor')!.text;

describe('The members of an organisation are invited by a mail whose link', () => {
  const invited = async (role: MemberRole = 'developer'): Promise<string> => {
    expect((await invite(await inPortal(owner), email, role)).status).toBe(303);
    return new URL((await smtp.mailTo(email)).link).pathname;
  };

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
    const answers = await Promise.all([1, 2, 3].map(() => browser.submit(page, link, postedAnew())));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410]);
    expect((await browser.open(link)).status).toBe(410);
    expect((await openPortal(browser)).status).toBe(303);
    expect(wordsOf(await browser.open(MEMBERS))).toContain(user.name);
    const events = await auditEventsOn(service, owner.id, 'organisation.');
    expect(events.map(({ action }) => action)).toEqual([
      'organisation.member_invited',
      'organisation.member_added',
    ]);
    expect(JSON.stringify(events)).not.toContain(email);
  });

  it('makes an account with a verified address for someone who has none', async () => {
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
    const answers = await Promise.all(
      [1, 2].map(() => browser.submit(page, link, { ...person, ...postedAnew() })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)[0]).toBe(200);
    const user = (await service.app.get(UsersService).findByEmail(email))!;
    expect(user.emailVerifiedAt).not.toBeNull();
    expect(menuOf(await (await inPortal(user)).open('/portal'))).toContain('With the role viewer');
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

  it('makes no member of the organisation itself, whose own account has got the address since', async () => {
    const link = await invited('viewer');
    await service.make.updateUser(owner, { email, emailVerified: true });
    const browser = await signedIn((await service.app.get(UsersService).findByEmail(email))!);
    const answer = await browser.fillIn(link);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/portal/sign-in']);
    expect((await newBrowser().open(link)).status).toBe(410);
    expect((await openPortal(browser)).status).toBe(303);
    expect(menuOf(await browser.open('/portal'))).toContain('With the role admin');
    const rows = 'SELECT 1 FROM organisation_members WHERE organisation_id = $1';
    expect(await service.database.query(rows, [owner.id])).toEqual([]);
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
    const withdraw = formOn(page, `${MEMBERS}/withdraw/`);
    expect((await newBrowser().open(second)).status).toBe(200);
    expect((await admin.submit(page, withdraw)).status).toBe(303);
    expect((await admin.submit(page, withdraw, postedAnew())).status).toBe(404);
    expect((await newBrowser().open(second)).status).toBe(410);
    await invite(admin);
    const third = new URL((await smtp.mailTo(email, 3)).link).pathname;
    await service.database.query(
      "UPDATE organisation_invitations SET expires_at = now() - interval '1 second' WHERE email = $1",
      [email],
    );
    for (const link of [third, `/invitations/${newSecret('invitationKey')}`, '/invitations/x'])
      expect((await newBrowser().open(link)).status).toBe(410);
  });

  it('is not sent to members, to what is no address, with no role, or beyond the limits', async () => {
    const admin = await inPortal(owner);
    const user = await member('viewer');
    for (const address of [owner.email, user.email.toUpperCase()]) {
      const refused = await invite(admin, address);
      expect([refused.status, wordsOf(refused)]).toEqual([409, expect.stringContaining('a member already')]);
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
    const browser = await signedIn(await service.make.user({ email, emailVerified: true }));
    expect((await browser.fillIn(link)).status).toBe(409);
    await service.database.query(
      'DELETE FROM organisation_members WHERE organisation_id = $1 AND user_id = (SELECT max(user_id) FROM organisation_members WHERE organisation_id = $1)',
      [owner.id],
    );
    expect((await browser.fillIn(link)).status).toBe(303);
  });
});

/** Contract §18: 20 for each organisation, and for each person, in an hour. */
describe('Mails that a partner sends from the portal', () => {
  let n = 0;
  const stranger = (): string => `stranger${++n}@elsewhere.example`;
  /** Counts further mails of a person, as the forms do. */
  const count = async (mails: number, personId = owner.id): Promise<void> => {
    const limits = service.app.get(MailLimitsService);
    while (mails-- > 0) expect(await limits.admitOfPartner(stranger(), owner.id, personId)).toBeUndefined();
  };
  const inviteAndWithdraw = async (admin: BrowserSession): Promise<void> => {
    expect((await invite(admin, stranger())).status).toBe(303);
    const page = await admin.open(MEMBERS);
    expect((await admin.submit(page, formOn(page, `${MEMBERS}/withdraw/`))).status).toBe(303);
  };
  const expectRefused = (page: Page, why: string): void => {
    expect([page.status, wordsOf(page)]).toEqual([429, expect.stringContaining(why)]);
    expectRetryAfter(page, 3600);
  };

  it('are refused beyond 20 invitations of an organisation in an hour, withdrawn ones included', async () => {
    const user = await member('admin');
    const [first, second] = [await inPortal(owner), await inPortal(user)];
    await inviteAndWithdraw(first);
    await count(9);
    await count(9, user.id);
    await inviteAndWithdraw(second);
    const address = stranger();
    for (const admin of [first, second]) {
      const refused = await invite(admin, address);
      expectRefused(refused, 'Nothing was sent: your organisation has sent 20 mails within an hour.');
      expect(refused.html.querySelector('input[name="email"]')!.getAttribute('value')).toBe(address);
    }
    expect(
      await service.database.query('SELECT 1 FROM organisation_invitations WHERE email = $1', [address]),
    ).toEqual([]);
  });

  it('are refused beyond 20 of a person in an hour, whatever the organisation', async () => {
    const person = await member('admin');
    await inviteAndWithdraw(await inPortal(person));
    await count(19, person.id);
    const other = await service.make.user({ kind: 'organisation', emailVerified: true });
    const client = await service.make.client({ ownerId: other.id });
    await service.app.get(MembersService).add(other.id, person.id, 'admin', SERVICE_ACTOR);
    const refused = await invite(await inPortal(person, client), stranger());
    expectRefused(refused, 'Nothing was sent: you have sent 20 mails within an hour.');
    // Others of that organisation are not held up.
    expect((await invite(await inPortal(other, client), stranger())).status).toBe(303);
  });

  it('are refused beyond 20 links to contacts, removed ones included, and count together with invitations', async () => {
    const admin = await inPortal(owner);
    const path = '/portal/contacts';
    const add = () => admin.fillIn(path, { email: stranger() });
    const addAndRemove = async (): Promise<void> => {
      expect((await add()).status).toBe(303);
      const page = await admin.open(path);
      expect((await admin.submit(page, formOn(page, `${path}/`), { do: 'remove' })).status).toBe(303);
    };
    await addAndRemove();
    await count(18);
    await addAndRemove();
    expectRefused(await add(), 'you have sent 20 mails within an hour');
    expect((await invite(admin, stranger())).status).toBe(429);
  });
});

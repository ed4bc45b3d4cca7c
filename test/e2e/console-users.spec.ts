import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { isAccepted, madeForEach, PASSWORD, useSharedService } from '../support/spec.js';
import { errorsIn } from '../support/plain-words.js';
import { expectRetryAfter, newAddress } from '../support/rate-limits.js';
import { signIn } from '../support/without-pages.js';

const USERS = '/admin/console/users';
const CONFIRM = '/admin/console/confirm-password';

describe('In the console, users', () => {
  const service = useSharedService({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  const operator = madeForEach(() => service.make.user({ role: 'operator', name: 'Olga Operator' }));
  let browser: BrowserSession;

  beforeEach(async () => {
    browser = new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
    await signIn(service, browser, operator.email, PASSWORD);
  });

  const submit = async (
    path: string,
    fields: Record<string, string | string[] | undefined> = {},
    from = path,
  ): Promise<Page> => browser.submit(await browser.open(from), path, fields);
  const said = async (answer: Page): Promise<string | undefined> => {
    expect(answer.status).toBe(303);
    return (await browser.open(answer.headers.get('location')!)).html.querySelector('[role="status"]')?.text;
  };
  const auditLog = async (id: string): Promise<string[]> =>
    (
      await service.database.query<{ action: string }>(
        'SELECT action FROM audit_events WHERE subject_id = $1 AND actor_id = $2 ORDER BY id',
        [id, operator.id],
      )
    ).map(({ action }) => action);
  const ageSession = () =>
    service.database.query(
      "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
      [operator.id],
    );

  it.each([
    ['without an address', { email: '' }, 'email', 'Enter an email'],
    ['with the address of another user', { email: 'taken@mail.example' }, 'email', 'Another user has this'],
  ])('are not created %s', async (_what, wrong, field, words) => {
    await service.database.query("DELETE FROM users WHERE email_key = 'taken@mail.example'");
    await service.make.user({ email: 'taken@mail.example' });
    const page = await submit(`${USERS}/new`, { name: 'New', ...wrong });
    expect(page.status).toBe(400);
    expect(page.html.querySelector(`#${field}-error`)!.text).toContain(words);
  });

  it('are created, and get a link to set a password, which is shown only once', async () => {
    const made = await submit(`${USERS}/new`, { email: `n${Date.now()}@mail.example`, name: 'Nora New' });
    const path = made.headers.get('location')!;
    expect(await said(made)).toBe('User created.');
    const linked = await submit(`${path}/password-link`, {}, path);
    const page = await browser.open(linked.headers.get('location')!);
    const url = page.html.querySelector('code.secret')!.text;
    expect((await new BrowserSession(service.url).open(new URL(url).pathname)).status).toBe(200);
    expect((await browser.open(path)).text).not.toContain(url);
    expect(await auditLog(path.split('/').at(-1)!)).toEqual(['user.created', 'user.password_link_created']);
    expect(service.log.join('')).not.toContain(url.split('/').at(-1));
  });

  it('are created with an umlaut in the address, in a field that browsers leave as it is typed', async () => {
    const page = await browser.open(`${USERS}/new`);
    expect(page.html.querySelector('#email')!.getAttribute('type')).toBe('text');
    const email = `jörg${Date.now()}@müller.example`;
    const made = await browser.submit(page, `${USERS}/new`, { email, name: 'Jörg' });
    expect((await browser.open(made.headers.get('location')!)).text).toContain(email);
  });

  it('are found by part of their name or address, and by id', async () => {
    const user = await service.make.user({ name: 'Quentin Quagga', email: 'q.uagga@mail.example' });
    for (const q of ['in quag', 'Q.UAGGA@', user.id]) {
      const page = await browser.open(`${USERS}?${new URLSearchParams({ q }).toString()}`);
      expect([q, page.html.querySelectorAll('tbody tr').length]).toEqual([q, 1]);
      expect(page.html.querySelector('tbody')!.text).toContain('Quentin Quagga');
    }
  });

  it('are updated, disabled and enabled', async () => {
    const user = await service.make.user({ name: 'Before' });
    const client = await service.make.client();
    await service.make.user({ name: `After ${user.id}` });
    const tokens = await service.make.tokens(client, user);
    expect(await said(await submit(`${USERS}/${user.id}/edit`, { name: `After ${user.id}` }))).toContain(
      'updated',
    );
    expect((await browser.open(`${USERS}/${user.id}/disable`)).text).toContain('one grant');
    expect(await said(await submit(`${USERS}/${user.id}/disable`))).toContain('disabled');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    const disabled = async (query: string) =>
      (await browser.open(`${USERS}?q=After+${user.id}${query}`)).html
        .querySelectorAll('tbody th a')
        .map(({ text }) => text);
    expect(await disabled('')).toHaveLength(2);
    expect(await disabled('&state=disabled')).toEqual([`After ${user.id}`]);
    expect(await disabled('&state=disabled&operator_role=admin')).toEqual([]);
    expect((await browser.open(`${USERS}?state=enabled`)).status).toBe(400);
    expect(await said(await submit(`${USERS}/${user.id}/enable`, {}, `${USERS}/${user.id}`))).toContain(
      'enabled',
    );
    expect(await auditLog(user.id)).toEqual(['user.updated', 'user.updated', 'user.updated']);
  });

  it('are updated by a form that leaves as it is what others have changed since it was opened', async () => {
    const user = await service.make.user({ name: 'Before' });
    const path = `${USERS}/${user.id}/edit`;
    const page = await browser.open(path);
    const email = `new-${user.id}@mail.example`.toLowerCase();
    await service.make.updateUser(user, { email, emailVerified: true, language: 'nl' });
    expect(await said(await browser.submit(page, path, { name: 'After' }))).toContain('updated');
    const [row] = await service.database.query(
      'SELECT name, email, language, email_verified_at IS NOT NULL AS verified FROM users WHERE id = $1',
      [user.id],
    );
    expect(row).toEqual({ name: 'After', email, language: 'nl', verified: true });
  });

  it('are not vouched for at an address that the form did not show', async () => {
    const user = await service.make.user();
    const path = `${USERS}/${user.id}/edit`;
    const page = await browser.open(path);
    const email = `other-${user.id}@mail.example`.toLowerCase();
    await service.make.updateUser(user, { email });
    const isVerified = async () =>
      (await service.app.get(UsersService).get(user.id)).emailVerifiedAt !== null;
    const asked = await browser.submit(page, path, { email_verified: 'true' });
    expect([asked.status, errorsIn(asked).email]).toEqual([400, expect.stringContaining('Someone else')]);
    expect(asked.html.querySelector('#email')!.getAttribute('value')).toBe(email);
    expect((await browser.submit(asked, path)).status).toBe(303);
    expect(await isVerified()).toBe(false);
    const seen = await browser.open(path);
    expect((await browser.submit(seen, path, { email_verified: 'true' })).status).toBe(303);
    expect(await isVerified()).toBe(true);
  });

  it('have their applications disconnected and their grants ended', async () => {
    const user = await service.make.user();
    const client = await service.make.client({ name: 'Northwind' });
    const tokens = await service.make.tokens(client, user);
    const applications = `${USERS}/${user.id}/applications`;
    expect((await browser.open(applications)).html.querySelector('tbody')!.text).toContain('Northwind');
    expect(await said(await submit(`${applications}/${client.id}/disconnect`))).toContain('disconnected');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect((await browser.open(applications)).html.querySelector('.empty')).not.toBeNull();
    expect((await browser.open(`${USERS}/${user.id}/grants`)).html.querySelector('.empty')).not.toBeNull();
  });

  it('who own clients are not erased, and the page says why', async () => {
    const owner = await service.make.user();
    await service.make.client({ ownerId: owner.id });
    const page = await submit(`${USERS}/${owner.id}/erase`);
    expect(page.status).toBe(409);
    expect(page.html.querySelector('[role="alert"]')!.text).toContain('owns clients');
  });

  it('are erased, and the audit log keeps only their id', async () => {
    const user = await service.make.user({ name: 'Gone Person' });
    expect(await said(await submit(`${USERS}/${user.id}/erase`))).toContain('erased');
    expect((await browser.open(`${USERS}/${user.id}`)).status).toBe(404);
    const page = await browser.open(`/admin/console/audit?subject=${user.id}`);
    expect(page.text).toContain('user.created');
    expect(page.text).not.toContain('Gone Person');
  });

  describe('who are to become operators, be erased or lose all tokens', () => {
    // console-passwords.spec.ts has all forms that ask for it.
    it('require a password confirmation after 15 minutes, which begins a new session', async () => {
      const user = await service.make.user();
      const path = `${USERS}/${user.id}/erase`;
      const form = await browser.open(path);
      expect(form.status).toBe(200);
      await ageSession();
      const ask = `${CONFIRM}?${new URLSearchParams({ return_to: path }).toString()}`;
      expect((await browser.open(path)).headers.get('location')).toBe(ask);
      expect((await browser.submit(form, path)).headers.get('location')).toBe(ask);
      expect(await auditLog(user.id)).toEqual([]);

      const wrong = await submit(CONFIRM, { password: 'wrong horse battery staple' }, ask);
      expect([wrong.status, wrong.html.querySelector('#password-error')!.text]).toEqual([
        400,
        'This is not your password.',
      ]);
      const before = browser.cookies.get('cds_session')!;
      const right = await submit(CONFIRM, { password: PASSWORD }, ask);
      expect([right.status, right.headers.get('location')]).toEqual([303, path]);
      expect(browser.cookies.get('cds_session')).not.toBe(before);
      const old = new BrowserSession(service.url);
      old.cookies.set('cds_session', before);
      expect((await old.open('/admin/console')).status).toBe(302);

      expect((await submit(path)).status).toBe(303);
      const actions = await auditLog(user.id);
      expect(actions.filter((each) => each !== 'user.sign_in_ways_ended')).toEqual(['user.erased']);
      expect(await auditLog(operator.id)).toEqual([
        'session.started',
        'session.confirmation_refused',
        'session.confirmed',
      ]);
    });

    it('are protected against guesses of the password: the 6th wrong one is a 429', async () => {
      const statuses: number[] = [];
      let last!: Page;
      for (let n = 0; n < 6; n++) {
        last = await submit(CONFIRM, { password: 'wrong horse battery staple' });
        statuses.push(last.status);
      }
      expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
      expectRetryAfter(last, 15 * 60);
    });

    it('have a confirmation page that redirects only within the console', async () => {
      for (const return_to of [
        'https://evil.example/',
        '//evil.example',
        '/account',
        '/admin/consoleX',
        '',
      ]) {
        const answer = await submit(CONFIRM, { password: PASSWORD, return_to });
        expect([return_to, answer.headers.get('location')]).toEqual([return_to, '/admin/console']);
      }
    });

    it("have a confirmation page that leaves the operator's other browsers signed in", async () => {
      const other = await service.make.signedIn(operator);
      await submit(CONFIRM, { password: PASSWORD });
      expect((await other.open('/admin/console')).status).toBe(200);
    });
  });

  it('lose access to the console immediately together with the operator role', async () => {
    const other = await service.make.user({ role: 'operator' });
    const theirs = await service.make.signedIn(other);
    expect(await said(await submit(`${USERS}/${other.id}/remove-operator`))).toContain('no longer');
    expect((await theirs.open('/admin/console')).status).toBe(302);
    const again = await service.make.signedIn(other);
    expect((await again.open('/admin/console')).status).toBe(403);
  });
});

import argon2 from '@node-rs/argon2';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { newSecret } from '#platform/secrets/tokens.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { auditEventsOn } from '../support/audit-events.js';
import { expectOAuthError, isAccepted, PASSWORD, refresh, useSharedService } from '../support/spec.js';
import { BrowserSession, csrfTokenOn, type Page } from '../support/browser-session.js';

const NEW_PASSWORD = 'a new long password';
const FIELDS = { password: NEW_PASSWORD, password_again: NEW_PASSWORD };

describe('A password link', () => {
  const service = useSharedService();
  let user: UserEntity;

  beforeEach(async () => (user = await service.make.user()));

  const newBrowser = (): BrowserSession => new BrowserSession(service.url);
  const newLink = async (): Promise<string> =>
    new URL(await service.app.get(PasswordLinksService).create(user.id, SERVICE_ACTOR)).pathname;
  const set = async (
    link: string,
    password = NEW_PASSWORD,
    again = password,
    browser = newBrowser(),
  ): Promise<Page> => browser.fillIn(link, { password, password_again: again });
  const canLogIn = async (password: string): Promise<boolean> => {
    const browser = newBrowser();
    const answer = await browser.fillIn('/login', {
      email: user.email,
      password,
    });
    return answer.status === 303;
  };
  const expectGone = (page: Page): void => {
    expect([page.status, page.headers.get('content-type')]).toEqual([410, 'text/html; charset=utf-8']);
    expect(page.html.querySelector('h1')!.text).toBe('This link no longer works');
    expect(page.html.querySelector('form')).toBeNull();
    expect(page.text).not.toContain(user.email);
    expect(page.headers.get('referrer-policy')).toBe('strict-origin');
  };
  const expectNothingChanged = async (link: string): Promise<void> => {
    expect(await canLogIn(PASSWORD)).toBe(true);
    expect((await newBrowser().open(link)).status).toBe(200);
  };

  describe('refuses', () => {
    it('passwords that do not fit, says why next to the fields, and stays usable', async () => {
      const link = await newLink();
      for (const [what, password, again] of [
        ['a password of 11 characters', 'p'.repeat(11), undefined],
        ['a password of 257 characters', 'p'.repeat(257), undefined],
        ['no password', '', undefined],
        ['two different passwords', NEW_PASSWORD, `${NEW_PASSWORD}!`],
        ['two passwords that differ in case', NEW_PASSWORD, NEW_PASSWORD.toUpperCase()],
        ['no repetition of the password', NEW_PASSWORD, ''],
      ] as const) {
        const page = await set(link, password, again);
        expect([what, page.status]).toEqual([what, 400]);
        const alert = page.html.querySelector('[role="alert"]')!;
        expect(alert.text.length).toBeGreaterThan(10);
        expect(page.html.querySelector('#password')!.getAttribute('aria-describedby')).toContain(alert.id);
        if (password !== '') expect(page.text).not.toContain(password);
      }
      await expectNothingChanged(link);
    });

    it('an unknown user', async () => {
      const create = service.app
        .get(PasswordLinksService)
        .create('user01HN2NJ9NMRZBXT1H6FT9N7735', SERVICE_ACTOR);
      await expect(create).rejects.toMatchObject({ status: 404 });
    });
  });

  it('expires after exactly 24 hours', async () => {
    const link = await newLink();
    const age = (seconds: number): Promise<unknown> =>
      service.database.query(
        'UPDATE password_links SET expires_at = expires_at - make_interval(secs => $1)',
        [seconds],
      );
    await age(86_400 - 60);
    const browser = newBrowser();
    const page = await browser.open(link);
    expect(page.status).toBe(200);
    await age(60);
    expectGone(await newBrowser().open(link));
    expectGone(await browser.submit(page, link, FIELDS));
    expect(await canLogIn(PASSWORD)).toBe(true);
  });

  it('does not work while the user is disabled, or after a change of password or email address', async () => {
    const users = service.app.get(UsersService);
    for (const changes of [{ enabled: false }, { password: NEW_PASSWORD }, { email: `x${user.email}` }]) {
      user = await service.make.user();
      const link = await newLink();
      const browser = newBrowser();
      const page = await browser.open(link);
      await users.update(user.id, changes, SERVICE_ACTOR);
      expectGone(await newBrowser().open(link));
      expectGone(await browser.submit(page, link, FIELDS));
      await users.update(user.id, { enabled: true }, SERVICE_ACTOR);
      expectGone(await newBrowser().open(link));
    }
  });

  it("works once, and invalidates the user's other links", async () => {
    const [link, other] = [await newLink(), await newLink()];
    expect((await set(link)).status).toBe(200);
    expectGone(await newBrowser().open(link));
    expectGone(await newBrowser().open(other));
    expect([await canLogIn(NEW_PASSWORD), await canLogIn(PASSWORD)]).toEqual([true, false]);
  });

  it('is refused without hashing the password if it is used, expired or unknown', async () => {
    const [used, expired, key] = [await newLink(), await newLink(), newSecret('passwordKey')];
    const [browser, token] = [newBrowser(), new Map<string, string>()];
    for (const link of [used, expired]) token.set(link, csrfTokenOn(await browser.open(link)));
    // Such a page has no form, so the test creates the CSRF token as the service does.
    const request = { cookies: { cds_csrf: browser.cookies.get('cds_csrf')! } } as unknown as FastifyRequest;
    const csrf = service.app.get(CsrfService);
    token.set(`/password/${key}`, csrf.tokenFor(request, {} as FastifyReply, `password ${key}`));
    await set(used);
    await service.database.query(
      'UPDATE password_links SET expires_at = now() WHERE used_at IS NULL AND user_id = $1',
      [user.id],
    );
    const hash = jest.spyOn(argon2, 'hash');
    for (const [link, csrf_token] of token) {
      const form = { csrf_token, ...FIELDS };
      expectGone(await browser.open(link, { form, headers: { origin: service.url } }));
    }
    expect(hash).not.toHaveBeenCalled();
    hash.mockRestore();
  });

  it('works only once, even when it is submitted many times concurrently', async () => {
    const link = await newLink();
    const browsers = Array.from({ length: 5 }, newBrowser);
    const pages = await Promise.all(browsers.map((browser) => browser.open(link)));
    const answers = await Promise.all(
      browsers.map((browser, n) => {
        const password = `${NEW_PASSWORD} ${n}`;
        return browser.submit(pages[n]!, link, { password, password_again: password });
      }),
    );
    const statuses = answers.map(({ status }) => status);
    expect([...statuses].sort()).toEqual([200, 410, 410, 410, 410]);
    expect(await canLogIn(`${NEW_PASSWORD} ${statuses.indexOf(200)}`)).toBe(true);
  });

  it('shows whose password it sets, also to password managers, and its page does not leak its address', async () => {
    const page = await newBrowser().open(await newLink());
    expect(page.html.querySelector('input[autocomplete="username"]')!.getAttribute('value')).toBe(user.email);
    expect(page.html.querySelectorAll('input[autocomplete="new-password"]')).toHaveLength(2);
    expect(page.headers.get('referrer-policy')).toBe('strict-origin');
    expect(page.text).not.toMatch(/<script|https?:\/\//);
  });

  it.each([
    ['12 characters', 'p'.repeat(12)],
    ['256 characters', 'p'.repeat(256)],
    ['blanks, umlauts and markup', '  <b>Zürich & "Ærø"</b> 🔌  '],
  ])('accepts %s unchanged', async (_what, password) => {
    expect((await set(await newLink(), password)).status).toBe(200);
    expect(await canLogIn(password)).toBe(true);
    expect(await canLogIn(password.trim() + 'x')).toBe(false);
  });

  it('lets a user sign in who had no password', async () => {
    user = await service.make.user({ password: undefined });
    await set(await newLink());
    expect(await canLogIn(NEW_PASSWORD)).toBe(true);
  });

  it('ends sessions and tokens of the user, but not those of clients that the user owns', async () => {
    const client = await service.make.client({ ownerId: user.id });
    const tokens = await service.make.tokens(client, user);
    const ownToken = await service.make.clientToken(client);
    const browser = await service.make.signedIn(user);
    await set(await newLink());
    expect((await browser.open('/')).html.querySelector('form')).toBeNull();
    const works = (token: string) => isAccepted(service.http, token);
    expect([await works(tokens.access_token), await works(ownToken)]).toEqual([false, true]);
    expectOAuthError(await refresh(service.http, client, tokens.refresh_token), 400, 'invalid_grant');
  });

  it('is audited when it is created and used', async () => {
    await set(await newLink());
    expect(await auditEventsOn(service, user.id, 'user.password')).toMatchObject([
      { action: 'user.password_link_created', actor_type: 'service', actor_id: null },
      { action: 'user.password_changed', actor_type: 'user', actor_id: user.id },
    ]);
  });
});

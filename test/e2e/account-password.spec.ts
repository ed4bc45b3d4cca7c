import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { madeForEach, PASSWORD, placeOf, useSharedService } from '../support/spec.js';
import { isAccepted, refresh } from '../support/oauth.js';
import { expectRetryAfter, newAddress } from '../support/rate-limits.js';
import { signIn } from '../support/without-pages.js';

const PATH = '/account/password';
const NEW_PASSWORD = 'a new long password';
const WRONG = 'wrong horse battery staple';

describe('Changing a password', () => {
  const service = useSharedService({ env: { TRUSTED_PROXIES: '127.0.0.1' } });

  const user = madeForEach(() => service.make.user());
  const browser = madeForEach(async () => {
    const by = new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
    await signIn(service, by, user.email, PASSWORD);
    return by;
  });

  /** A signed-in browser of the user, with its own client address. */
  const signedIn = async (password = PASSWORD) => {
    const by = new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
    await by.logIn(user.email, password);
    return by;
  };
  const change = async (current = PASSWORD, password = NEW_PASSWORD, again = password, by = browser) =>
    by.submit(await by.open(PATH), PATH, { current_password: current, password, password_again: again });
  const canLogIn = (password: string) =>
    signedIn(password).then(
      () => true,
      () => false,
    );
  const isSignedIn = async (by: BrowserSession) => (await by.open('/account')).status === 200;
  const errorOf = (page: Page, field: string) => {
    const input = page.html.querySelector(`input[name="${field}"]`)!;
    const ids = (input.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .filter((id) => id.endsWith('error'));
    expect(input.getAttribute('aria-invalid')).toBe(ids.length > 0 ? 'true' : undefined);
    expect(input.getAttribute('value')).toBeUndefined();
    return ids.length > 0 ? page.html.querySelector(`#${ids[0]}`)!.text : undefined;
  };
  const audited = () =>
    service.database.query(
      `SELECT action, actor_type, actor_id = $1 AS own FROM audit_events
        WHERE subject_id = $1 AND action LIKE 'user.password%' ORDER BY id`,
      [user.id],
    );

  describe('refuses', () => {
    const WRONG_CHANGES = [
      ['a new password of 11 characters', PASSWORD, 'p'.repeat(11), undefined, 'password', '12 to 256'],
      ['a new password of 257 characters', PASSWORD, 'p'.repeat(257), undefined, 'password', '12 to 256'],
      [
        'a new password of 20 000 characters',
        PASSWORD,
        'p'.repeat(20_000),
        undefined,
        'password',
        '12 to 256',
      ],
      ['no new password', PASSWORD, '', undefined, 'password', '12 to 256'],
      [
        'two different new passwords',
        PASSWORD,
        NEW_PASSWORD,
        `${NEW_PASSWORD}!`,
        'password_again',
        'not the same',
      ],
      ['no repetition of the new password', PASSWORD, NEW_PASSWORD, '', 'password_again', 'not the same'],
      ['no current password', '', NEW_PASSWORD, undefined, 'current_password', 'Enter your current'],
      ['a wrong current password', WRONG, NEW_PASSWORD, undefined, 'current_password', 'not your current'],
      [
        'a current password that is too long',
        'p'.repeat(20_000),
        NEW_PASSWORD,
        undefined,
        'current_password',
        'not your current',
      ],
    ] as const;

    it('what is wrong, with an error next to the field', async () => {
      for (const [what, current, password, again, field, words] of WRONG_CHANGES) {
        const page = await change(current, password, again);
        expect([what, page.status, page.headers.get('content-type')]).toEqual([
          what,
          400,
          'text/html; charset=utf-8',
        ]);
        expect(page.html.querySelector('[role="alert"]')!.text).toContain('not changed');
        for (const name of ['current_password', 'password', 'password_again']) {
          const expected = name === field ? expect.stringContaining(words) : undefined;
          expect([what, name, errorOf(page, name)]).toEqual([what, name, expected]);
        }
        for (const typed of [current, password].filter((text) => text !== ''))
          expect(page.text).not.toContain(typed);
      }
      expect(await canLogIn(PASSWORD)).toBe(true);
      expect(await isSignedIn(browser)).toBe(true);
    });

    it('further attempts after 5 wrong current passwords within 15 minutes, even with the right one', async () => {
      const statuses: number[] = [];
      for (let n = 0; n < 6; n++) statuses.push((await change(WRONG)).status);
      expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
      const refused = await change();
      expect([refused.status, refused.headers.get('content-type')]).toEqual([
        429,
        'text/html; charset=utf-8',
      ]);
      expectRetryAfter(refused, 15 * 60);
      expect(await isSignedIn(browser)).toBe(true);
      expect((await audited()).slice(0, 5)).toEqual(
        Array(5).fill({ action: 'user.password_change_refused', actor_type: 'user', own: true }),
      );
    });

    it('guesses in a stolen session, without locking out the user', async () => {
      const thief = new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
      thief.cookies.set('cds_session', browser.cookies.get('cds_session')!);
      const page = await thief.open(PATH);
      const guesses = Array.from({ length: 30 }, () =>
        thief.submit(page, PATH, {
          current_password: WRONG,
          password: NEW_PASSWORD,
          password_again: NEW_PASSWORD,
        }),
      );
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 400)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(25);
      expect((await change()).status).toBe(303);
    });

    it('to count mistakes in the new password as guesses', async () => {
      for (let n = 0; n < 8; n++) expect((await change(PASSWORD, 'short')).status).toBe(400);
      expect((await change()).status).toBe(303);
    });
  });

  it('takes effect immediately and is confirmed', async () => {
    expect(placeOf(await change())).toEqual([303, PATH]);
    const page = await browser.open(PATH);
    expect(page.html.querySelector('[role="status"]')!.text).toContain('Password changed');
    expect([await canLogIn(NEW_PASSWORD), await canLogIn(PASSWORD)]).toEqual([true, false]);
    expect(await audited()).toEqual([{ action: 'user.password_changed', actor_type: 'user', own: true }]);
  });

  it('ends other sessions, links and tokens, and continues this session under a new secret', async () => {
    const client = await service.make.client({ ownerId: user.id });
    const tokens = await service.make.tokens(client, user);
    const code = await service.make.code(client, user);
    const ownToken = await service.make.clientToken(client);
    const link = new URL(await service.app.get(PasswordLinksService).create(user.id, SERVICE_ACTOR));
    const elsewhere = await signedIn();
    const bystander = await service.make.signedInNew();
    const before = browser.cookies.get('cds_session')!;

    expect((await change()).status).toBe(303);

    expect([await isSignedIn(browser), await isSignedIn(elsewhere), await isSignedIn(bystander)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(browser.cookies.get('cds_session')).not.toBe(before);
    const old = new BrowserSession(service.url);
    old.cookies.set('cds_session', before);
    expect(await isSignedIn(old)).toBe(false);
    // Contract §4: when the owner's password changes, what the client does in its own name continues.
    expect([
      await isAccepted(service.http, tokens.access_token),
      await isAccepted(service.http, ownToken),
    ]).toEqual([false, true]);
    expect((await refresh(service.http, client, tokens.refresh_token)).json.error).toBe('invalid_grant');
    const exchanged = await service.http.token(
      { grant_type: 'authorization_code', code, redirect_uri: client.redirectUris[0] },
      { id: client.id, secret: client.secret },
    );
    expect(exchanged.json.error).toBe('invalid_grant');
    expect((await new BrowserSession(service.url).open(link.pathname)).status).toBe(410);
    expect((await browser.open('/account')).html.querySelectorAll('.entries h2')).toHaveLength(1);
  });

  const FROM_PROVIDER =
    "'provider', 'company', 'anna', 'session-1', date_trunc('second', now()) - interval '1 hour', false";
  const ORIGIN = 'method, provider, provider_subject, provider_sid, authenticated_at, second_factor';
  describe.each([
    ['a password', "'password', NULL, NULL, NULL, NULL::timestamptz, false"],
    ['a password and a code', "'password', NULL, NULL, NULL, NULL::timestamptz, true"],
    ['a passkey', "'passkey', NULL, NULL, NULL, NULL::timestamptz, true"],
    ['a provider', FROM_PROVIDER],
  ])('in a session that came from %s', (_name, origin) => {
    const sessions = () =>
      service.database.query(`SELECT ${ORIGIN} FROM sessions WHERE user_id = $1`, [user.id]);
    beforeEach(() =>
      service.database.query(`UPDATE sessions SET (${ORIGIN}) = (${origin}) WHERE user_id = $1`, [user.id]),
    );

    it('does not change what it came from', async () => {
      const before = await sessions();
      expect((await change()).status).toBe(303);
      expect(await isSignedIn(browser)).toBe(true);
      expect(await sessions()).toEqual(before);
    });

    if (origin === FROM_PROVIDER) return;
    it('neither does entering it again', async () => {
      const [before, secret] = [await sessions(), browser.cookies.get('cds_session')];
      const path = '/account/confirm';
      const answer = await browser.submit(await browser.open(path), path, { password: PASSWORD });
      expect([answer.status, browser.cookies.get('cds_session') === secret]).toEqual([303, false]);
      expect(await sessions()).toEqual(before);
    });
  });

  it.each([
    ['12 characters', 'p'.repeat(12)],
    ['256 characters', 'p'.repeat(256)],
    ['blanks, umlauts and markup', '  <b>Zürich & "Ærø"</b> 🔌  '],
  ])('accepts %s unchanged', async (_what, password) => {
    expect((await change(PASSWORD, password)).status).toBe(303);
    expect(await canLogIn(password)).toBe(true);
  });

  it('succeeds only once when submitted concurrently from two browsers', async () => {
    const browsers = [browser, await signedIn()];
    const pages = await Promise.all(browsers.map((by) => by.open(PATH)));
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const password = `${NEW_PASSWORD} ${n}`;
        const fields = { current_password: PASSWORD, password, password_again: password };
        return browsers[n % 2]!.submit(pages[n % 2]!, PATH, fields);
      }),
    );
    // The other requests found the password changed (an error next to the field), or the session ended.
    expect(answers.filter(({ status }) => ![303, 400].includes(status))).toEqual([]);
    const working = await Promise.all(Array.from({ length: 6 }, (_, n) => canLogIn(`${NEW_PASSWORD} ${n}`)));
    expect(working.filter(Boolean)).toHaveLength(1);
    expect(await canLogIn(PASSWORD)).toBe(false);
    const changed = (await audited()).filter(
      (event) => (event as { action: string }).action === 'user.password_changed',
    );
    expect(changed).toHaveLength(1);
    expect((await Promise.all(browsers.map(isSignedIn))).filter(Boolean).length).toBeLessThanOrEqual(1);
  });

  it('writes neither password into the log or a URL', async () => {
    const from = service.log.length;
    await change(WRONG);
    expect((await change()).headers.get('location')).toBe(PATH);
    const log = service.log.slice(from).join('');
    for (const secret of [PASSWORD, NEW_PASSWORD, WRONG, browser.cookies.get('cds_session')!])
      expect(log).not.toContain(secret);
  });
});

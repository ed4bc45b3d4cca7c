import { AuthenticatorAppsService } from '#access/users/factors/authenticator-apps.service.js';
import { BrowserSession, type Page, postedAnew } from '../support/browser-session.js';
import { madeForEach, placeOf, startInstance, useSharedService } from '../support/spec.js';
import { setUpApp } from '../support/factors-without-pages.js';
import { newAddress, statusesOf } from '../support/rate-limits.js';
import {
  addApp,
  codeOf,
  wrongCode,
  giveCode,
  givePassword,
  isSignedIn,
  withinOneStep,
} from '../support/second-factors.js';
import { listOf } from '../support/list-of.js';

const APP = '/account/security/app/new';
const STEP = '/login/second-factor';

describe('An authenticator app', () => {
  const service = useSharedService({ instances: 2, env: { TRUSTED_PROXIES: '127.0.0.1' } });

  const user = madeForEach(() => service.make.user());
  const newBrowser = () => new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });

  const actions = () =>
    service.database.column<string>('SELECT action FROM audit_events WHERE subject_id = $1 ORDER BY id', [
      user.id,
    ]);

  /** A browser in which the right password was given. */
  const afterPassword = async () => {
    const browser = newBrowser();
    await givePassword(browser, user);
    return browser;
  };

  it('is asked for after the password, and its code logs in', async () => {
    const { secret, codes } = await addApp(await service.make.signedIn(user));
    expect(new Set(codes).size).toBe(10);
    const browser = newBrowser();
    const answer = await givePassword(browser, user, '/account/sessions');
    expect(placeOf(answer)).toEqual([303, '/login/second-factor?return_to=%2Faccount%2Fsessions']);
    expect(await isSignedIn(browser)).toBe(false);
    const done = await giveCode(browser, codeOf(secret), answer.headers.get('location')!);
    expect(placeOf(done)).toEqual([303, '/account/sessions']);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await actions()).toEqual(
      listOf(`
      user.created, session.started, user.authenticator_app_added, user.recovery_codes_created,
      session.started
    `),
    );
  });

  describe('is set up', () => {
    it('with a QR code, and the key as text', async () => {
      const browser = await service.make.signedIn(user);
      const page = await browser.open(APP);
      expect(page.html.querySelector('code.secret')!.text).toMatch(/^([A-Z2-7]{4} ?){8}$/);
      expect(page.html.querySelector('svg.qr-code path')!.getAttribute('d')).toMatch(/^(M\d+ \d+h1v1h-1z)+$/);
    });

    it('only with a right code, and the same key stays on the page after a wrong one', async () => {
      const browser = await service.make.signedIn(user);
      const page = await browser.open(APP);
      const keyOn = (shown: Page) => shown.html.querySelector('code.secret')!.text;
      const secret = keyOn(page).replaceAll(' ', '');
      const wrong = await browser.submit(page, APP, { code: codeOf(secret, 3) });
      expect([wrong.status, keyOn(wrong)]).toEqual([400, keyOn(page)]);
      expect(wrong.html.querySelector('#code-error')!.text).toContain('This code is not right');
      expect((await browser.submit(wrong, APP, { code: codeOf(secret) })).status).toBe(303);
    });

    it('only in the session that was shown the key', async () => {
      const browser = await service.make.signedIn(user);
      const other = await service.make.signedIn(user);
      const page = await browser.open(APP);
      const secret = page.html.querySelector('code.secret')!.text.replaceAll(' ', '');
      const set_up = page.html.querySelector('input[name=set_up]')!.getAttribute('value');
      const answer = await other.submit(await other.open(APP), APP, { set_up, code: codeOf(secret) });
      expect([answer.status, answer.html.querySelector('.notice-error')?.text]).toEqual([
        400,
        'This took too long. Scan the new code below.',
      ]);
      expect((await givePassword(newBrowser(), user)).headers.get('location')).toBe('/account');
    });

    it('in place of another one, whose codes no longer work', async () => {
      const browser = await service.make.signedIn(user);
      const first = await setUpApp(service, browser);
      const second = await setUpApp(service, browser);
      expect(second.codes).toEqual([]);
      expect((await giveCode(await afterPassword(), codeOf(first.secret))).status).toBe(401);
      expect((await giveCode(await afterPassword(), codeOf(second.secret))).status).toBe(303);
    });

    it('once, although its form is sent twice: the codes shown at last work, and the user is told once', async () => {
      const browser = await service.make.signedIn(user);
      const page = await browser.open(APP);
      const secret = page.html.querySelector('code.secret')!.text.replaceAll(' ', '');
      const code = codeOf(secret);
      await browser.submit(page, APP, { code });
      const again = await browser.submit(page, APP, { code, ...postedAnew() });
      expect(placeOf(again)).toEqual([303, '/account/security/recovery-codes']);
      const shown = await browser.open('/account/security/recovery-codes');
      const codes = shown.html.querySelectorAll('.recovery-codes code').map((each) => each.text);
      expect(codes).toHaveLength(10);
      expect((await giveCode(await afterPassword(), codes[0]!)).status).toBe(303);
      expect((await giveCode(await afterPassword(), code)).status).toBe(401);
      const told = await service.database.column<string>(
        "SELECT message_id FROM notifications WHERE user_id = $1 AND message_id LIKE 'ERR26%' ORDER BY id",
        [user.id],
      );
      expect(told).toEqual(['ERR2601', 'ERR2604']);
    });

    it('in place of another one, although its form is sent twice, and the recovery codes stay', async () => {
      const browser = await service.make.signedIn(user);
      const { codes } = await setUpApp(service, browser);
      const page = await browser.open(APP);
      const code = codeOf(page.html.querySelector('code.secret')!.text.replaceAll(' ', ''));
      for (let n = 0; n < 2; n++) {
        const answer = await browser.submit(page, APP, { code, ...postedAnew() });
        expect(placeOf(answer)).toEqual([303, '/account/security']);
      }
      expect((await giveCode(await afterPassword(), codes[0]!)).status).toBe(303);
    });

    it('by a form that a second click does not send again', async () => {
      const page = await (await service.make.signedIn(user)).open(APP);
      expect(page.html.querySelector(`form[action="${APP}"]`)!.hasAttribute('data-once')).toBe(true);
      expect(page.html.querySelector('script[src="/assets/page.js"]')).not.toBeNull();
    });

    it('and stored sealed, also after the encryption key has changed', async () => {
      const { secret } = await setUpApp(service, await service.make.signedIn(user));
      const sealed_secret = await service.database.value<Buffer>(
        'SELECT sealed_secret FROM authenticator_apps WHERE user_id = $1',
        [user.id],
      );
      expect(sealed_secret.toString('latin1')).not.toContain(secret);
      const next = Buffer.alloc(32, 'n').toString('base64');
      const previous = service.settings.encryptionKeys[0]!.toString('base64');
      const later = await startInstance(service.database, {
        BASE_URL: service.url,
        ENCRYPTION_KEY: next,
        ENCRYPTION_KEYS_PREVIOUS: previous,
      });
      try {
        const { resealed, unreadable } = await later.app.get(AuthenticatorAppsService).reseal();
        expect([resealed > 0, unreadable]).toEqual([true, []]);
        expect(await service.app.get(AuthenticatorAppsService).reseal()).toEqual({
          resealed: 0,
          unreadable: expect.arrayContaining([`authenticator app of ${user.id}`]) as string[],
        });
      } finally {
        await later.app.close();
      }
    });
  });

  describe('refuses', () => {
    it('a code of two steps ago, and one of two steps ahead', async () => {
      const { secret } = await setUpApp(service, await service.make.signedIn(user), 0);
      await service.database.query('UPDATE authenticator_apps SET last_step = 0 WHERE user_id = $1', [
        user.id,
      ]);
      const browser = await afterPassword();
      const answers = await withinOneStep(async () => [
        await giveCode(browser, codeOf(secret, -2)),
        await giveCode(browser, codeOf(secret, 2)),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    });

    it('but a code of one step ahead logs in, and after it none of an earlier step', async () => {
      const { secret } = await setUpApp(service, await service.make.signedIn(user));
      expect((await giveCode(await afterPassword(), codeOf(secret, 1))).status).toBe(303);
      expect((await giveCode(await afterPassword(), codeOf(secret, 0))).status).toBe(401);
      expect((await giveCode(await afterPassword(), codeOf(secret, -1))).status).toBe(401);
    });

    it('a code that was used, also the one that set it up', async () => {
      const { code } = await setUpApp(service, await service.make.signedIn(user), 0);
      const page = await giveCode(await afterPassword(), code);
      expect([page.status, page.html.querySelector('#code-error')?.text]).toEqual([
        401,
        'This code is wrong, or was used already.',
      ]);
      expect((await actions()).at(-1)).toBe('session.refused');
    });

    it('one code used by two browsers at the same time, on two instances: one of them', async () => {
      const { secret } = await setUpApp(service, await service.make.signedIn(user));
      const code = codeOf(secret);
      const steps = await Promise.all(
        service.instances.map(async ({ url }) => {
          const first = await afterPassword();
          const csrf_token = (await first.open(STEP)).html
            .querySelector('input[name=csrf_token]')!
            .getAttribute('value')!;
          const browser = new BrowserSession(url);
          first.cookies.forEach((value, name) => browser.cookies.set(name, value));
          return () => browser.open(STEP, { form: { csrf_token, code }, headers: { origin: service.url } });
        }),
      );
      const answers = await Promise.all(steps.map((step) => step()));
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 401]);
    });

    it('what is no code', async () => {
      await setUpApp(service, await service.make.signedIn(user));
      const browser = await afterPassword();
      const page = await browser.open(STEP);
      for (const code of ['', '12345', 'abcdef', '１２３４５６', '0'.repeat(5000)])
        expect([code, (await browser.submit(page, STEP, { code })).status]).toEqual([code, 401]);
    });
  });

  it('locks the account after too many wrong codes, and a right password in between changes nothing', async () => {
    const { secret } = await setUpApp(service, await service.make.signedIn(user));
    const waiting = await afterPassword();
    const page = await waiting.open(STEP);
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) {
      const browser = newBrowser();
      const step = await givePassword(browser, user);
      statuses.push(step.status === 303 ? (await giveCode(browser, wrongCode(secret))).status : step.status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const refused = await givePassword(newBrowser(), user);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
    expect((await waiting.submit(page, STEP, { code: codeOf(secret) })).status).toBe(429);
    expect(await isSignedIn(waiting)).toBe(false);
  });

  it('keeps a browser known that logged in before the account was locked', async () => {
    const known = await service.make.signedIn(user);
    const { secret } = await setUpApp(service, known);
    const stranger = await afterPassword();
    const page = await stranger.open(STEP);
    const guess = () => stranger.submit(page, STEP, { code: wrongCode(secret) });
    expect(await statusesOf(6, guess)).toEqual([401, 401, 401, 401, 401, 429]);
    known.cookies.delete('cds_session');
    expect((await givePassword(known, user)).status).toBe(303);
    expect((await giveCode(known, codeOf(secret))).status).toBe(303);
  });

  describe('is removed', () => {
    it('with the recovery codes, and the password alone logs in again', async () => {
      const browser = await service.make.signedIn(user);
      await setUpApp(service, browser);
      const path = '/account/security/app/remove';
      const page = await browser.open(path);
      expect(page.text).toContain('Your password alone logs you in again.');
      expect(page.text).toContain('Your recovery codes are removed too.');
      expect(placeOf(await browser.submit(page, path))).toEqual([303, '/account/security']);
      expect((await givePassword(newBrowser(), user)).headers.get('location')).toBe('/account');
      expect(
        await service.database.query('SELECT 1 FROM recovery_codes WHERE user_id = $1', [user.id]),
      ).toEqual([]);
      expect((await actions()).filter((action) => action.includes('removed'))).toEqual([
        'user.authenticator_app_removed',
      ]);
      expect((await browser.submit(page, path, postedAnew())).status).toBe(404);
    });
  });

  it('is not asked for from another user', async () => {
    await setUpApp(service, await service.make.signedIn(user));
    const other = await service.make.user();
    expect((await givePassword(newBrowser(), other)).headers.get('location')).toBe('/account');
  });

  it('tells the user, without saying more than happened', async () => {
    const browser = await service.make.signedIn(user);
    await setUpApp(service, browser);
    const rows = await service.database.query<{ message_id: string; short_text_body: string }>(
      'SELECT message_id, short_text_body FROM notifications WHERE user_id = $1 ORDER BY id',
      [user.id],
    );
    expect(rows.at(-1)).toEqual({
      message_id: 'ERR2601',
      short_text_body: 'Someone added an authenticator app to your account.',
    });
    expect((await browser.open('/account/security')).text).toContain('10 codes');
  });
});

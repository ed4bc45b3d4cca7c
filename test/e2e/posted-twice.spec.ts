import { once } from 'node:events';
import { request } from 'node:http';
import { Transactions } from '#platform/database/queries/transactions.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { newLink } from '#platform/secrets/tokens.js';
import { DataExportsRepository } from '#access/users/closing/data-exports.repository.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { actionsOn } from '../support/audit-events.js';
import { BrowserSession, csrfTokenOn, type Page } from '../support/browser-session.js';
import { madeForEach, PASSWORD, placeOf, until } from '../support/spec.js';
import { setUpApp } from '../support/factors-without-pages.js';
import { connectionTo } from '../support/test-database.js';
import { codeOf, givePassword, isSignedIn, wrongCode } from '../support/second-factors.js';
import { PATIENT, useService, type TestInstance } from '../support/test-service.js';

const STEP = '/login/second-factor';
const NEW_PASSWORD = 'another horse battery staple';

describe('A form that is posted twice', () => {
  // Its own, because the tests read and age all answers.
  const service = useService({ instances: 2, databaseOptions: PATIENT });
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => service.make.user());
  const newBrowser = () => new BrowserSession(service.url);
  const one = () => service.instances[0]!;
  const other = () => service.instances[1]!;

  /** A click on a form: it is posted with the cookies that the browser has now, and the browser then has those of its answer alone. */
  function click(browser: BrowserSession, page: Page, path: string, fields: Record<string, string> = {}) {
    const cookies = [...browser.cookies];
    const form = { csrf_token: csrfTokenOn(page, path), ...fields };
    return async (at: TestInstance = service): Promise<{ answer: Page; after: BrowserSession }> => {
      const after = new BrowserSession(at.url);
      for (const [name, value] of cookies) after.cookies.set(name, value);
      return { answer: await after.open(path, { form, headers: { origin: service.url } }), after };
    };
  }

  const newPortalLink = async (): Promise<string> => {
    const { json } = await service.http.get('/webhook_portal', {
      bearer: await service.make.clientToken(client),
    });
    return new URL((json as { url: string }).url).pathname;
  };
  const portalClick = async (path: string) => {
    const browser = newBrowser();
    return click(browser, await browser.open(path), path);
  };
  const newPasswordLink = async (): Promise<string> =>
    new URL(await service.app.get(PasswordLinksService).create(user.id, SERVICE_ACTOR)).pathname;
  const stepClick = async (code: (secret: string) => string) => {
    const { secret } = await setUpApp(service, await service.make.signedIn(user));
    const browser = newBrowser();
    await givePassword(browser, user);
    return click(browser, await browser.open(STEP), STEP, { code: code(secret) });
  };
  const expire = () => service.database.query('UPDATE form_answers SET expires_at = now()');
  const portalSessions = () =>
    service.database.value<number>('SELECT count(*)::int FROM portal_sessions WHERE client_id = $1', [
      client.id,
    ]);
  const cookiesOf = ({ headers }: Page) => headers.getSetCookie();

  describe('is not answered as before', () => {
    it('in another browser', async () => {
      const path = await newPortalLink();
      const [here, elsewhere] = [await portalClick(path), await portalClick(path)];
      expect((await here()).answer.status).toBe(303);
      const { answer } = await elsewhere(other());
      expect([answer.status, cookiesOf(answer)]).toEqual([410, []]);
    });

    it('after ten seconds', async () => {
      const press = await portalClick(await newPortalLink());
      expect((await press()).answer.status).toBe(303);
      const [kept] = await service.database.query<{ seconds: number }>(
        'SELECT round(extract(epoch FROM expires_at - now()))::int AS seconds FROM form_answers WHERE sealed_answer IS NOT NULL ORDER BY expires_at DESC LIMIT 1',
      );
      expect(kept!.seconds).toBeLessThanOrEqual(10);
      await expire();
      expect((await press()).answer.status).toBe(410);
    });

    it('with something else in it, or from a page that was opened again', async () => {
      const browser = await service.make.signedIn(user);
      const path = '/account/sessions/times';
      const page = await browser.open('/account/sessions');
      const [utc, local] = ['utc', 'local'].map((times) => click(browser, page, path, { times }));
      expect(cookiesOf((await utc!()).answer)).toContainEqual(expect.stringMatching(/^cds_times=utc;/));
      expect(cookiesOf((await local!()).answer)).not.toContainEqual(expect.stringMatching(/^cds_times=utc;/));
      await click(browser, await browser.open('/account/sessions'), path, { times: 'utc' })();
      const rows = await service.database.query('SELECT 1 FROM form_answers WHERE expires_at > now()');
      expect(rows.length).toBeGreaterThanOrEqual(3);
    });

    it('if it was refused: it is refused, and counted, again', async () => {
      const press = await stepClick(wrongCode);
      expect((await press()).answer.status).toBe(401);
      expect((await press(other())).answer.status).toBe(401);
      expect(
        (await actionsOn(service, user.id)).filter((action) => action === 'session.refused'),
      ).toHaveLength(2);
      expect(await service.database.query('SELECT 1 FROM form_answers WHERE sealed_answer IS NULL')).toEqual(
        [],
      );
    });

    it('with what only someone who is logged in may read, after they have logged out', async () => {
      const browser = await service.make.signedIn(user);
      const { key, digest } = newLink('exportKey');
      await service.app
        .get(Transactions)
        .run(() => service.app.get(DataExportsRepository).replace({ userId: user.id, digest, ttl: 3600 }));
      const path = `/account/export/${key}`;
      const download = click(browser, await browser.open(path), path);
      const [file, again] = [(await download()).answer, (await download(other())).answer];
      expect(file.headers.get('content-disposition')).toMatch(/^attachment/);
      expect([again.status, again.text]).toEqual([200, file.text]);
      const logOut = click(browser, await browser.open('/account'), '/logout');
      await logOut();
      expect(placeOf((await download()).answer)).toEqual([303, expect.stringMatching(/^\/login\?/)]);
    });
  });

  describe('leads where it led the first time, with the cookies from before it', () => {
    it('a one-time link into the portal, at the same instant at two instances: one session, which all clicks have', async () => {
      const press = await portalClick(await newPortalLink());
      const clicks = await Promise.all(Array.from({ length: 8 }, (_, n) => press(service.instances[n % 2]!)));
      expect(clicks.map(({ answer }) => placeOf(answer))).toEqual(Array(8).fill([303, '/portal']));
      expect(new Set(clicks.map(({ answer }) => cookiesOf(answer).join()))).toHaveProperty('size', 1);
      expect(await portalSessions()).toBe(1);
      expect((await clicks[7]!.after.open('/portal')).status).toBe(200);
    });

    it('a second factor: logged in once', async () => {
      const press = await stepClick((secret) => codeOf(secret));
      const [before, { answer, after }] = [await press(one()), await press(other())];
      expect([placeOf(answer), cookiesOf(answer)]).toEqual([
        placeOf(before.answer),
        cookiesOf(before.answer),
      ]);
      expect(await isSignedIn(after)).toBe(true);
      const started = (await actionsOn(service, user.id)).filter((action) => action === 'session.started');
      // The other is the one in which the app was set up.
      expect(started).toHaveLength(2);
    });

    it('a password link: the password is set once', async () => {
      const path = await newPasswordLink();
      const browser = newBrowser();
      const fields = { password: NEW_PASSWORD, password_again: NEW_PASSWORD };
      const press = click(browser, await browser.open(path), path, fields);
      const [before, { answer }] = await Promise.all([press(one()), press(other())]);
      expect([answer.status, answer.text]).toEqual([200, before.answer.text]);
      expect(answer.text).toContain('Your password has been set');
      const changed = (await actionsOn(service, user.id)).filter(
        (action) => action === 'user.password_changed',
      );
      expect(changed).toHaveLength(1);
    });

    it.each([
      ['with the cookies from before it', false],
      ['with those of the first answer', true],
    ])('a change of password, which gives the session another id, %s', async (_what, hasArrived) => {
      const browser = await service.make.signedIn(user);
      const page = await browser.open('/account/password');
      const fields = { current_password: PASSWORD, password: NEW_PASSWORD, password_again: NEW_PASSWORD };
      const press = click(browser, page, '/account/password', fields);
      const before = await press();
      const again = hasArrived ? click(before.after, page, '/account/password', fields) : press;
      const { answer, after } = await again(other());
      expect([placeOf(answer), cookiesOf(answer)]).toEqual([
        placeOf(before.answer),
        cookiesOf(before.answer),
      ]);
      expect((await after.open('/account/password')).text).toContain('Password changed.');
    });

    it('after the browser has broken off the first request', async () => {
      const path = await newPortalLink();
      const browser = newBrowser();
      const page = await browser.open(path);
      const press = click(browser, page, path);
      const body = new URLSearchParams({ csrf_token: csrfTokenOn(page, path) }).toString();
      const holding = await connectionTo(service);
      await holding.query('BEGIN');
      await holding.query('SELECT FROM portal_links WHERE client_id = $1 FOR UPDATE', [client.id]);
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const type = 'application/x-www-form-urlencoded';
      const headers = { cookie, origin: service.url, 'content-type': type };
      const broken = request(`${one().url}${path}`, { method: 'POST', headers });
      const hasBroken = once(broken, 'error');
      broken.end(body);
      await until('it is handled', async () => (await pendingForms()) === 1);
      broken.destroy();
      await hasBroken;
      await holding.query('ROLLBACK');
      await holding.end();
      const { answer, after } = await press(other());
      expect(placeOf(answer)).toEqual([303, '/portal']);
      expect((await after.open('/portal')).status).toBe(200);
    });
  });

  const pendingForms = async (): Promise<number> =>
    (await service.database.query('SELECT 1 FROM form_answers WHERE sealed_answer IS NULL')).length;

  it('waits for the first, and takes over from one whose instance has died', async () => {
    const press = await portalClick(await newPortalLink());
    await press();
    // As an instance leaves it that is killed before it has done anything.
    await service.database.query('UPDATE portal_links SET redeemed_at = NULL WHERE client_id = $1', [
      client.id,
    ]);
    await service.database.query('UPDATE form_answers SET sealed_answer = NULL');
    let isAnswered = false;
    const waiting = press(other()).finally(() => (isAnswered = true));
    // Another request of the same browser, which came later, is not held up.
    expect((await (await portalClick(await newPortalLink()))(other())).answer.status).toBe(303);
    expect(isAnswered).toBe(false);
    await expire();
    expect(placeOf((await waiting).answer)).toEqual([303, '/portal']);
  });

  it('keeps nothing that the database and the settings can be used to log in with, and not for long', async () => {
    await expire();
    const press = await portalClick(await newPortalLink());
    const { answer } = await press();
    const [session] = /cds_ps_[\w-]+/.exec(cookiesOf(answer).join())!;
    const [row] = await service.database.query<{ digest: Buffer; sealed_answer: Buffer }>(
      'SELECT digest, sealed_answer FROM form_answers WHERE expires_at > now()',
    );
    expect(row!.sealed_answer.toString('latin1')).not.toContain(session);
    const box = new SealedBox('answer of a form', service.settings.encryptionKeys);
    expect(box.open(row!.sealed_answer, row!.digest.toString('base64url'))).toBeUndefined();
    const [table] = await service.database.query<{ persistence: string }>(
      "SELECT relpersistence AS persistence FROM pg_class WHERE relname = 'form_answers'",
    );
    // Not in the log of the database, and so in no archive of it.
    expect(table!.persistence).toBe('u');
  });
});

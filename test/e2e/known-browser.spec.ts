import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { PasswordLinksService } from '../../src/users/passwords/password-links.service.js';
import { BrowserSession } from '../support/browser-session.js';
import { putClockForward } from '../support/clock.js';
import { PASSWORD } from '../support/factory.js';
import { madeForEach } from '../support/made.js';
import { newAddress, retryAfterOf, statusesOf } from '../support/rate-limits.js';
import { useService } from '../support/test-service.js';

const WRONG = 'wrong horse battery staple';

describe('After a change of the password,', () => {
  const service = useService({ env: { TRUSTED_PROXIES: '127.0.0.1' } });

  const user = madeForEach(() => service.make.user());

  const newBrowser = () => new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
  const attempt = async (password: string, { by = newBrowser() } = {}) =>
    by.submit(await by.open('/login'), '/login', { email: user.email, password });
  const wrong =
    (options: { by?: BrowserSession } = {}) =>
    () =>
      attempt(WRONG, options);
  /** A browser in which the user has signed in once before. */
  const knownBrowser = async () => {
    const browser = newBrowser();
    expect((await attempt(PASSWORD, { by: browser })).status).toBe(303);
    browser.cookies.delete('session');
    return browser;
  };
  const exhaustAccount = async () => {
    expect(await statusesOf(6, wrong())).toEqual([401, 401, 401, 401, 401, 429]);
  };
  const NEW = 'another horse battery staple';
  const newSignIns = () =>
    service.database.query("SELECT 1 FROM notifications WHERE user_id = $1 AND message_id = 'ERR2002'", [
      user.id,
    ]);
  const changes: [how: string, change: () => Promise<unknown>][] = [
    ['by an operator', () => service.make.updateUser(user, { password: NEW })],
    [
      'by a link',
      async () => {
        const url = await service.app.get(PasswordLinksService).create(user.id, SERVICE_ACTOR);
        const by = newBrowser();
        const { pathname } = new URL(url);
        const fields = { password: NEW, password_again: NEW };
        expect((await by.submit(await by.open(pathname), pathname, fields)).status).toBe(200);
      },
    ],
    ['on the account page of another browser', async () => changeOnAccountPage(newBrowser())],
  ];
  const changeOnAccountPage = async (by: BrowserSession) => {
    expect((await attempt(PASSWORD, { by })).status).toBe(303);
    const answer = await by.submit(await by.open('/account/password'), '/account/password', {
      current_password: PASSWORD,
      password: NEW,
      password_again: NEW,
    });
    expect(answer.status).toBe(303);
  };

  it.each(changes)(
    'a browser that knew the old password is no longer trusted: changed %s',
    async (_how, change) => {
      const by = await knownBrowser();
      await change();
      expect(await statusesOf(5, wrong({ by }))).toEqual([401, 401, 401, 401, 401]);
      // Its failures count together with those of all untrusted browsers.
      expect((await attempt(WRONG)).status).toBe(429);
      expect((await attempt(NEW, { by })).status).toBe(429);
    },
  );

  it('a browser that knew the old password waits no longer than Retry-After says, whatever it tried in the meantime', async () => {
    const by = await knownBrowser();
    await service.make.updateUser(user, { password: NEW });
    await exhaustAccount();
    putClockForward(600);
    const seconds = retryAfterOf(await attempt(WRONG, { by }));
    expect(await statusesOf(6, wrong({ by }))).toEqual(Array(6).fill(429));
    putClockForward(seconds);
    expect((await attempt(NEW, { by })).status).toBe(303);
  });

  it('the user is notified once about the next sign-in in a formerly known browser', async () => {
    const by = await knownBrowser();
    await service.make.updateUser(user, { password: NEW });
    const before = (await newSignIns()).length;
    for (let n = 0; n < 2; n++) {
      expect((await attempt(NEW, { by })).status).toBe(303);
      by.cookies.delete('session');
    }
    expect(await newSignIns()).toHaveLength(before + 1);
  });

  it('the browser in which it was changed is still trusted', async () => {
    const by = newBrowser();
    await changeOnAccountPage(by);
    const before = (await newSignIns()).length;
    await exhaustAccount();
    by.cookies.delete('session');
    expect((await attempt(NEW, { by })).status).toBe(303);
    expect(await newSignIns()).toHaveLength(before);
  });
});

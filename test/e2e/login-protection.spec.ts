import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { type RateLimitStore, RATE_LIMIT_STORE } from '#access/rate-limits/store/rate-limit-store.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { BrowserSession, madeForEach, madeOnce, type Page, PASSWORD } from '../support/spec.js';
import { putClockForward } from '../support/clock.js';
import { expectRetryAfter, newAddress, retryAfterOf, statusesOf, tally } from '../support/rate-limits.js';
import { TEST_ENCRYPTION_KEY, useService } from '../support/test-service.js';

const WINDOW = 15 * 60;
const WRONG = 'wrong horse battery staple';
const COOKIE = 'cds_known_browser';

describe('The protection of sign-in', () => {
  const service = useService({ env: { TRUSTED_PROXIES: '127.0.0.1' } });

  const user = madeForEach(() => service.make.user());
  /** One more than may fail at one address. An unknown address costs a hash of full strength, and they do not. */
  const strangers = madeOnce(() => Promise.all(Array.from({ length: 51 }, () => service.make.user())));

  const newBrowser = (address = newAddress()) =>
    new BrowserSession(service.url, { 'x-forwarded-for': address });
  const attempt = async (password: string, { email = user.email, by = newBrowser() } = {}) =>
    by.submit(await by.open('/login'), '/login', { email, password });
  const wrong =
    (options: { email?: string; by?: BrowserSession } = {}) =>
    () =>
      attempt(WRONG, options);
  /** A browser in which the user has signed in once before. */
  const knownBrowser = async (of = user, address = newAddress()) => {
    const browser = newBrowser(address);
    expect((await attempt(PASSWORD, { email: of.email, by: browser })).status).toBe(303);
    browser.cookies.delete('cds_session');
    return browser;
  };
  /** A failure for each of the strangers, from one address. */
  const failuresOfAll = async (address: string): Promise<number[]> => {
    const by = newBrowser(address);
    const page = await by.open('/login');
    const statuses: number[] = [];
    for (const { email } of strangers)
      statuses.push((await by.submit(page, '/login', { email, password: WRONG })).status);
    return statuses;
  };
  const exhaustAccount = async (email = user.email) => {
    const by = newBrowser();
    const page = await by.open('/login');
    const guess = () => by.submit(page, '/login', { email, password: WRONG });
    expect(await statusesOf(6, guess)).toEqual([401, 401, 401, 401, 401, 429]);
  };

  describe('refuses', () => {
    it('the 6th failure for an account within 15 minutes, with a page that says when to try again', async () => {
      await exhaustAccount();
      const page = await attempt(WRONG);
      expect(page.status).toBe(429);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expectRetryAfter(page, WINDOW);
      expect(retryAfterOf(page)).toBeGreaterThan(WINDOW - 60);
      expect(page.headers.getSetCookie()).toEqual([]);
    });

    it('the 6th failure for an unknown email address in the same way', async () => {
      const shape = (page: Page, email: string) => ({
        status: page.status,
        text: page.text.replaceAll(email, '').replace(/\d+ seconds|[0-9A-Za-z-]{20,}/g, ''),
        headers: [...page.headers.keys()].filter((name) => name !== 'date').sort(),
      });
      const unknown = 'nobody-at-all@mail.example';
      await exhaustAccount();
      await exhaustAccount(unknown);
      expect(shape(await attempt(WRONG, { email: unknown }), unknown)).toEqual(
        shape(await attempt(WRONG), user.email),
      );
    });

    it('after that even the right password, without starting a session', async () => {
      await exhaustAccount();
      const by = newBrowser();
      expect((await attempt(PASSWORD, { by })).status).toBe(429);
      expect([by.cookies.has('cds_session'), by.cookies.has(COOKIE)]).toEqual([false, false]);
    });

    it('all but 5 of 15 concurrent attempts, with a known address and an unknown one', async () => {
      for (const email of [user.email, 'nobody-at-once@mail.example']) {
        const by = newBrowser();
        const page = await by.open('/login');
        const guess = () => by.submit(page, '/login', { email, password: WRONG });
        expect(await tally(Array.from({ length: 15 }, guess))).toEqual({ 401: 5, 429: 10 });
      }
    });

    it('further failures for the account under every spelling of its address', async () => {
      const { email } = await service.make.user({ email: 'kim.doe@mail.example' });
      const ways = [
        email,
        email.toUpperCase(),
        'Kim.Doe@Mail.Example',
        '\uff4bim.doe@mail.example',
        '\u212aim.doe@mail.example',
      ];
      for (const way of ways) expect((await attempt(WRONG, { email: way })).status).toBe(401);
      expect((await attempt(WRONG, { email })).status).toBe(429);
    });

    it('the 51st failure from one address over many accounts, but neither other addresses nor a browser that signed in before', async () => {
      const address = newAddress();
      const known = await knownBrowser(user, address);
      expect(await failuresOfAll(address)).toEqual([...Array(50).fill(401), 429]);
      expect((await attempt(PASSWORD, { by: newBrowser(address) })).status).toBe(429);
      const refused = await attempt(WRONG, { by: newBrowser(address) });
      expect(refused.status).toBe(429);
      expectRetryAfter(refused, WINDOW);
      expect((await attempt(PASSWORD)).status).toBe(303);
      expect((await attempt(PASSWORD, { by: known })).status).toBe(303);
    });

    it('all but 50 of 60 concurrent attempts from one address', async () => {
      const by = newBrowser();
      const page = await by.open('/login');
      const answers = Array.from({ length: 60 }, (_, n) =>
        by.submit(page, '/login', { email: strangers[n % strangers.length]!.email, password: WRONG }),
      );
      expect(await tally(answers)).toEqual({ 401: 50, 429: 10 });
    });

    it('attempts exactly as long as Retry-After says, whatever was tried in the meantime', async () => {
      await exhaustAccount();
      const seconds = retryAfterOf(await attempt(WRONG));
      putClockForward(seconds - 30);
      expect(await statusesOf(10, wrong())).toEqual(Array(10).fill(429));
      putClockForward(30);
      expect((await attempt(PASSWORD)).status).toBe(303);
    });
  });

  describe('after a successful sign-in', () => {
    it('resets the failures of the account', async () => {
      for (let round = 0; round < 2; round++) {
        expect(await statusesOf(5, wrong())).toEqual([401, 401, 401, 401, 401]);
        expect((await attempt(PASSWORD)).status).toBe(303);
      }
      await exhaustAccount();
    });

    it("in the user's own browser also resets the failures of other browsers", async () => {
      const by = await knownBrowser();
      await exhaustAccount();
      expect((await attempt(PASSWORD, { by })).status).toBe(303);
      expect((await attempt(PASSWORD)).status).toBe(303);
    });

    it('does not reset the failures of another account', async () => {
      const other = await service.make.user();
      await exhaustAccount();
      expect((await attempt(PASSWORD, { email: other.email })).status).toBe(303);
      expect((await attempt(WRONG)).status).toBe(429);
    });

    it('also accepts concurrent attempts with the right password', async () => {
      expect(await tally(Array.from({ length: 7 }, () => attempt(PASSWORD)))).toEqual({ 303: 7 });
      await exhaustAccount();
    });

    it('does not count it for its address: many people can sign in from one address', async () => {
      // From 127.0.0.1, whatever the browser.
      for (let n = 0; n < 51; n++) await service.make.signedIn(user);
      expect((await attempt(PASSWORD, { by: newBrowser('127.0.0.1') })).status).toBe(303);
    });
  });

  describe('does not delay a browser that signed in to the account before', () => {
    it('because of failures of others for the account', async () => {
      const by = await knownBrowser();
      await exhaustAccount();
      expect((await attempt(WRONG, { by })).status).toBe(401);
      expect((await attempt(PASSWORD, { by })).status).toBe(303);
    });

    it('except for its own failures, which count for no other browser', async () => {
      const [by, another] = [await knownBrowser(), await knownBrowser()];
      expect(await statusesOf(6, wrong({ by }))).toEqual([401, 401, 401, 401, 401, 429]);
      expect((await attempt(PASSWORD, { by })).status).toBe(429);
      expect((await attempt(PASSWORD, { by: another })).status).toBe(303);
    });
  });

  describe('does not trust', () => {
    it('a browser with a forged cookie or the cookie of another account', async () => {
      const genuine = (await knownBrowser()).cookies.get(COOKIE)!;
      const [browser, tag, mac] = genuine.split('.') as [string, string, string];
      const ofAnother = (await knownBrowser(await service.make.user())).cookies.get(COOKIE)!;
      await exhaustAccount();
      const by = newBrowser();
      const page = await by.open('/login');
      const logInWith = async (cookie: string): Promise<number> => {
        by.cookies.set(COOKIE, cookie);
        return (await by.submit(page, '/login', { email: user.email, password: PASSWORD })).status;
      };
      for (const cookie of [
        'x',
        '.',
        'x.y',
        `${browser}.`,
        `.${tag}.${mac}`,
        browser,
        `${browser}.${mac}`,
        '__proto__.x.y',
        `${'A'.repeat(22)}.${tag}.${mac}`,
        `${browser}.${'A'.repeat(tag.length)}.${mac}`,
        `${browser}.${tag}.${'A'.repeat(mac.length)}`,
        `${browser}.${tag}.${mac.slice(0, -1)}`,
        `${browser}:.${tag}.${mac}`,
        `${genuine}.`,
        ofAnother,
        `${browser}.${tag}.${ofAnother.split('.')[2]}`,
        `${browser}.${ofAnother.split('.')[1]}.${mac}`,
        `${browser}.${tag}.${TEST_ENCRYPTION_KEY}`,
      ]) {
        expect([cookie, await logInWith(cookie)]).toEqual([cookie, 429]);
      }
      expect(await logInWith(genuine)).toBe(303);
    });
  });

  describe('knows a browser by a cookie', () => {
    it('that is set once, for a year, is hidden from scripts and other sites, and does not reveal the user', async () => {
      const by = newBrowser();
      const cookies = (await attempt(PASSWORD, { by })).headers.getSetCookie();
      const known = cookies.find((line) => line.startsWith(COOKIE))!;
      expect(known).toMatch(
        /^cds_known_browser=[\w-]{22}\.[\w-]{43}\.[\w-]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/,
      );
      expect([known.includes(user.id), known.includes(user.email)]).toEqual([false, false]);
      by.cookies.delete('cds_session');
      const again = (await attempt(PASSWORD, { by })).headers.getSetCookie();
      expect(again.filter((line) => line.startsWith(COOKIE))).toEqual([]);
    });
  });

  it('knows a browser in which five accounts have logged in for each of them, and no more', async () => {
    const owners = strangers.slice(0, 6);
    const by = newBrowser();
    for (const { email } of owners) {
      expect((await attempt(PASSWORD, { email, by })).status).toBe(303);
      by.cookies.delete('cds_session');
    }
    const [oldest, ...known] = owners;
    for (const { email } of owners) await exhaustAccount(email);
    expect((await attempt(PASSWORD, { email: oldest!.email, by })).status).toBe(429);
    for (const { id, email } of known) {
      expect((await attempt(PASSWORD, { email, by })).status).toBe(303);
      by.cookies.delete('cds_session');
      const told = await service.database.query(
        "SELECT 1 FROM notifications WHERE user_id = $1 AND message_id = 'ERR2002'",
        [id],
      );
      expect(told).toHaveLength(1);
    }
  });

  describe('after a change of the password,', () => {
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
        by.cookies.delete('cds_session');
      }
      expect(await newSignIns()).toHaveLength(before + 1);
    });

    it('the browser in which it was changed is still trusted', async () => {
      const by = newBrowser();
      await changeOnAccountPage(by);
      const before = (await newSignIns()).length;
      await exhaustAccount();
      by.cookies.delete('cds_session');
      expect((await attempt(NEW, { by })).status).toBe(303);
      expect(await newSignIns()).toHaveLength(before);
    });
  });

  it('writes neither email address nor password into the names of counters or the log', async () => {
    const { email } = await service.make.user({ email: 'very.private@secretive.example' });
    const store = service.app.get<RateLimitStore>(RATE_LIMIT_STORE, { strict: false });
    const spies = (['consume', 'giveBack', 'clear'] as const).map((name) => jest.spyOn(store, name));
    try {
      await exhaustAccount(email);
      await attempt(PASSWORD, { email: 'very.private@elsewhere.example' });
      await attempt(PASSWORD, { by: await knownBrowser() });
      const keys = spies.flatMap((spy) => spy.mock.calls.map(([key]) => key));
      expect(keys.length).toBeGreaterThan(20);
      const secrets = /very|private|secretive|@|horse|example/i;
      // Without digests and random ids, which contain any word now and then.
      const words = (key: string) => key.replaceAll(/[\w-]{22,}/g, '');
      expect(keys.filter((key) => secrets.test(words(key)) || key.includes(user.email))).toEqual([]);
      expect(service.log.filter((line) => /very\.private|secretive|horse/i.test(line))).toEqual([]);
    } finally {
      spies.forEach((spy) => spy.mockRestore());
    }
  });
});

import { BrowserSession, type Page, postedAnew } from '../support/browser-session.js';
import { madeForEach, PASSWORD, placeOf, useSharedService } from '../support/spec.js';

const PATH = '/account/sessions';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

describe("The list of a user's sessions", () => {
  const service = useSharedService({ env: { TRUSTED_PROXIES: '127.0.0.1' } });

  const user = madeForEach(() => service.make.user());
  const here = madeForEach(() => signIn(FIREFOX, '203.0.113.7'));

  const signIn = async (userAgent: string, address: string) => {
    const browser = new BrowserSession(service.url, { 'user-agent': userAgent, 'x-forwarded-for': address });
    await browser.logIn(user.email, PASSWORD);
    return browser;
  };
  const isSignedIn = async (browser: BrowserSession) => (await browser.open('/account')).status === 200;
  const entries = (page: Page) => page.html.querySelectorAll('.opening :is(h2, h3)').map(({ text }) => text);
  const endActions = (page: Page) =>
    page.html
      .querySelectorAll('form')
      .map((form) => form.getAttribute('action')!)
      .filter((action) => action.startsWith(`${PATH}/sess`));
  const sessions = (): Promise<{ seconds: number; id: string; user_agent: string }[]> =>
    service.database.query(
      `SELECT extract(epoch FROM now() - last_seen_at)::int AS seconds, id, user_agent
         FROM sessions WHERE user_id = $1 ORDER BY id`,
      [user.id],
    );
  const audited = () =>
    service.database.query(
      `SELECT action, actor_id = $1 AS own, before, after FROM audit_events
        WHERE subject_id = $1 AND action LIKE 'session.%ended' ORDER BY id`,
      [user.id],
    );

  describe('shows times', () => {
    const timeIn = async (zone?: string, languages = 'en') => {
      if (zone !== undefined) here.cookies.set('cds_zone', zone);
      await service.database.query(
        `UPDATE sessions SET created_at = '2024-02-29T23:30Z' WHERE user_id = $1`,
        [user.id],
      );
      const page = await here.open(PATH, { headers: { 'accept-language': languages } });
      const time = page.html.querySelector('main dd time')!;
      expect(time.getAttribute('datetime')).toBe('2024-02-29T23:30:00.000Z');
      return [time.text, time.getAttribute('title')];
    };
    const IN_UTC = '29 February 2024 at 23:30 UTC';

    it('in UTC where the time zone of the browser is unknown, or none', async () => {
      const odd = [
        'Europe/Atlantis',
        'Europe%2F..%2F..%2Fetc',
        '<b>Europe</b>',
        `Europe/${'x'.repeat(3000)}`,
      ];
      for (const zone of [undefined, 'UTC', '', ...odd])
        expect([zone, await timeIn(zone)]).toEqual([zone, [IN_UTC, undefined]]);
    });

    it.each([
      ['Europe/Berlin', 'en', '1 March 2024 at 00:30 CET', IN_UTC],
      ['europe%2Fberlin', 'de', '1. März 2024 um 00:30 MEZ', '29. Februar 2024 um 23:30 UTC'],
      ['Asia/Calcutta', 'en', '1 March 2024 at 05:00 GMT+5:30', IN_UTC],
      ['America/Argentina/Buenos_Aires', 'en', '29 February 2024 at 20:30 GMT-3', IN_UTC],
    ])(
      'in the time zone of the browser, %s, in the language of the reader (%s), and in UTC as a title',
      async (zone, languages, local, utc) => {
        expect(await timeIn(zone, languages)).toEqual([local, utc]);
      },
    );

    it('in UTC once that is chosen in this browser, and back', async () => {
      const choose = async (times: string) => here.submit(await here.open(PATH), `${PATH}/times`, { times });
      expect((await choose('mars')).status).toBe(400);
      expect((await timeIn('Europe/Berlin'))[0]).toBe('1 March 2024 at 00:30 CET');
      const chosen = await choose('utc');
      expect([chosen.status, chosen.headers.get('set-cookie')]).toEqual([
        303,
        expect.stringContaining('HttpOnly'),
      ]);
      expect(await timeIn()).toEqual([IN_UTC, undefined]);
      const page = await here.open(PATH);
      expect(page.html.querySelector('input[name=times][checked]')!.getAttribute('value')).toBe('utc');
      await choose('local');
      expect((await timeIn())[0]).toBe('1 March 2024 at 00:30 CET');
    });
  });

  it('shows this browser first, marked, then the others, newest first, each in a row that opens with address, times and the one action', async () => {
    await signIn(IPHONE, '2001:db8::7');
    await signIn('curl/8.0', '198.51.100.9');
    await service.database.query(
      `UPDATE sessions SET created_at = '2024-02-29T10:00Z', last_seen_at = '2024-03-01T11:30Z'
        WHERE user_agent = $1`,
      [IPHONE],
    );
    const page = await here.open(PATH);
    expect(entries(page)).toEqual(['Firefox on Linux', 'An unknown browser', 'Safari on iPhone']);
    const phone = page.html.querySelectorAll('.opening').at(-1)!;
    const facts = phone.querySelectorAll('dd').map(({ text }) => text);
    expect(phone.querySelector('summary')!.text.trim()).toMatch(/^Safari on iPhone\s+1 Mar 2024, 11:30 UTC$/);
    expect(page.html.querySelectorAll('.opening .badge').map(({ text }) => text)).toEqual(['This browser']);
    expect(page.html.querySelector('.opening')!.text).toContain('This browser');
    expect(
      page.html.querySelectorAll('.opening').map((row) => row.querySelectorAll('button').length),
    ).toEqual([0, 1, 1, 1]);
    expect(facts).toEqual(['29 February 2024 at 10:00 UTC', '1 March 2024 at 11:30 UTC', '2001:db8::7']);
    expect(endActions(page)).toHaveLength(2);
  });

  it('repeats no text from the User-Agent header', async () => {
    await signIn(`<script>alert(1)</script> ${'x'.repeat(2000)} Firefox/1 \u00e9\t`, '198.51.100.9');
    expect((await here.open(PATH)).text).not.toMatch(/alert|xxx/);
    const stored = (await sessions()).map(({ user_agent }) => user_agent);
    expect(stored.map(({ length }) => length <= 300)).toEqual([true, true]);
    expect(stored.join('')).toMatch(/^[\x20-\x7e]+$/);
  });

  it('ends a session in another browser once, and answers 404 after that', async () => {
    const [phone, third] = [await signIn(IPHONE, '198.51.100.8'), await signIn(FIREFOX, '198.51.100.9')];
    const page = await here.open(PATH);
    const [ofThird, ofPhone] = endActions(page);
    expect(placeOf(await here.submit(page, ofPhone!))).toEqual([303, PATH]);
    expect((await here.open(PATH)).html.querySelector('[role="status"]')!.text).toContain('logged out');
    expect([await isSignedIn(here), await isSignedIn(phone), await isSignedIn(third)]).toEqual([
      true,
      false,
      true,
    ]);
    expect((await here.submit(page, ofPhone!, postedAnew())).status).toBe(404);
    const both = await Promise.all([1, 2].map(() => here.submit(page, ofThird!, postedAnew())));
    expect(both.map(({ status }) => status).sort()).toEqual([303, 404]);
    const ended = (action: string) => ({
      action: 'session.ended',
      own: true,
      before: { id: action.split('/').at(-1) },
      after: null,
    });
    expect(await audited()).toEqual([ended(ofPhone!), ended(ofThird!)]);
  });

  it('ends all other sessions of the user at once, and signs nobody else out', async () => {
    const others = [await signIn(IPHONE, '198.51.100.8'), await signIn(FIREFOX, '198.51.100.9')];
    const bystander = await service.make.signedInNew();
    const page = await here.open(PATH);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => here.submit(page, `${PATH}/sign_out_elsewhere`, postedAnew())),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    const signedIn = await Promise.all([here, ...others, bystander].map(isSignedIn));
    expect(signedIn).toEqual([true, false, false, true]);
    const after = await here.open(PATH);
    expect(entries(after)).toEqual(['Firefox on Linux']);
    expect(after.text).toContain('no other sessions');
    expect(await audited()).toEqual([
      { action: 'session.others_ended', own: true, before: null, after: { ended: 2 } },
    ]);
  });

  it('omits expired sessions', async () => {
    await signIn(IPHONE, '198.51.100.8');
    await service.database.query('UPDATE sessions SET expires_at = now() WHERE user_agent = $1', [IPHONE]);
    expect(entries(await here.open(PATH))).toEqual(['Firefox on Linux']);
  });

  it('updates the last use at most once in 5 minutes', async () => {
    const age = (seconds: number) =>
      service.database.query(
        'UPDATE sessions SET last_seen_at = now() - make_interval(secs => $2) WHERE user_id = $1',
        [user.id, seconds],
      );
    const seenAgo = async () => (await sessions())[0]!.seconds;
    await age(270);
    await here.open('/account');
    expect(await seenAgo()).toBeGreaterThanOrEqual(270);
    await age(301);
    const now = await service.database.value<string>('SELECT now()::text');
    await Promise.all(Array.from({ length: 5 }, () => here.open('/')));
    expect(
      await service.database.query('SELECT last_seen_at >= $2 AS updated FROM sessions WHERE user_id = $1', [
        user.id,
        now,
      ]),
    ).toEqual([{ updated: true }]);
  });

  it('is paged when it has many entries', async () => {
    await service.database.query(
      `INSERT INTO sessions (digest, user_id, expires_at, user_agent)
       SELECT sha256(($1 || n)::bytea), $1, now() + interval '1 day', $2 FROM generate_series(1, 60) n`,
      [user.id, IPHONE],
    );
    const seen = new Set<string>();
    let path: string | undefined = PATH;
    while (path) {
      const page: Page = await here.open(path);
      const actions = endActions(page);
      expect(actions.length).toBeLessThanOrEqual(25);
      actions.forEach((action) => seen.add(action));
      expect(entries(page)[0]).toBe('Firefox on Linux');
      path = page.html.querySelector('a[rel="next"]')?.getAttribute('href');
    }
    expect(seen.size).toBe(60);
  });
});

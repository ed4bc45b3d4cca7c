import { DisclosedReadsService } from '#events/disclosures/disclosed-reads.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { PASSWORD, type TestClient } from '../support/factory.js';
import { untilHourHasRoom } from '../support/hours.js';
import { madeForEach, madeOnce, placeOf, useSharedService } from '../support/spec.js';
import { API_WORDS } from '../support/plain-words.js';

const UNKNOWN = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
const EMPTY = 'It has read none of your data in the last 13 months.';

describe('What an application read', () => {
  const service = useSharedService();

  const client = madeOnce(() => service.make.client({ name: 'Northwind <b>& Co</b>' }));
  const user = madeForEach(() => service.make.user());
  const browser = madeForEach(() => service.make.signedIn(user));

  const pathOf = (of: TestClient | string = client) =>
    `/account/applications/${typeof of === 'string' ? of : of.id}/history`;
  /** Stores sums of the day so many days ago. */
  const store = async (
    daysAgo: number,
    { scope = 'vehicle:read', requests = 0, deliveries = 0, of = user, by = client } = {},
  ): Promise<Date> => {
    const day = await service.database.value<string>(
      `INSERT INTO disclosure_days (user_id, client_id, day, scope, requests, deliveries)
       VALUES ($1, $2, (now() AT TIME ZONE 'UTC')::date - $3::int, $4, $5, $6) RETURNING day::text`,
      [of.id, by.id, daysAgo, scope, requests, deliveries],
    );
    return new Date(day!);
  };
  const words = (date: Date) =>
    new Intl.DateTimeFormat('en-GB', {
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    }).format(date);
  const monthOf = (date: Date) =>
    new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(date);
  /** The days of a page with what is said of each, in its order. */
  const days = (page: Page): [string, string[]][] =>
    page.html
      .querySelectorAll('ol.entries > li')
      .map((day) => [day.querySelector('h3')!.text, day.querySelectorAll('li').map(({ text }) => text)]);
  const months = (page: Page) => page.html.querySelectorAll('.pager a');

  describe('is refused', () => {
    it('to visitors who are not logged in', async () => {
      const path = pathOf();
      const login = `/login?${new URLSearchParams({ return_to: path }).toString()}`;
      expect(placeOf(await new BrowserSession(service.url).open(path))).toEqual([302, login]);
    });

    it('for applications that were never connected, whether or not they exist', async () => {
      const other = await service.make.user();
      await service.make.consent(client, other);
      await store(0, { requests: 1, of: other });
      for (const id of [client.id, UNKNOWN, 'x', '%00', other.id, "'%20OR%201=1"]) {
        const page = await browser.open(pathOf(id));
        expect([id, page.status < 500 && page.status >= 400]).toEqual([id, true]);
        expect(page.text).not.toContain('Northwind');
      }
      expect((await browser.open(pathOf())).status).toBe(404);
    });

    it('to everybody but the user', async () => {
      const other = await service.make.user();
      for (const each of [user, other]) await service.make.consent(client, each);
      await store(0, { requests: 17, of: other });
      const page = await browser.open(pathOf());
      expect([page.status, page.text.includes(EMPTY), days(page)]).toEqual([200, true, []]);
      expect((await browser.open('/account')).text).not.toContain('No longer connected');
    });
  });

  it('is said when it is nothing', async () => {
    await service.make.consent(client, user);
    const page = await browser.open(pathOf());
    expect([page.text.includes(EMPTY), page.html.querySelector('svg.plot')]).toEqual([true, null]);
  });

  it('is a time line in plain words, by day, the newest first, without days on which nothing was', async () => {
    await untilHourHasRoom();
    await service.make.consent(client, user);
    const today = await store(0, { requests: 12, deliveries: 3 });
    await store(0, { scope: 'charging_session:read', deliveries: 1 });
    await store(0, { scope: 'account data', requests: 2 });
    const page = await browser.open(pathOf());
    expect(page.html.querySelector('h1')!.text).toBe('What it read');
    expect(page.html.querySelector('h2')!.text).toBe(monthOf(today));
    expect(days(page)).toEqual([
      [
        words(today),
        [
          'Your name and email address: asked twice',
          '“See your charging sessions”: sent once',
          '“See your vehicles”: asked 12 times, sent 3 times',
        ],
      ],
    ]);
    const main = page.html.querySelector('main')!.text;
    expect(page.text).toContain('Northwind &lt;b>');
    expect(main).not.toMatch(API_WORDS);
    expect(main).not.toMatch(/:read|clnt|scope/);
  });

  it.each([
    ['de', 'Ihr Name und Ihre E-Mail-Adresse: zweimal abgefragt', '„Ihre Fahrzeuge sehen“: einmal gesendet'],
    [
      'fr',
      'Votre nom et votre adresse e-mail\u202f: demandé deux fois',
      '«\u202fVoir vos véhicules\u202f»\u202f: envoyé une fois',
    ],
    ['nl', 'Uw naam en e-mailadres: twee keer opgevraagd', '‘Uw voertuigen zien’: één keer verstuurd'],
    ['es', 'Su nombre y su dirección de correo: pedido dos veces', '«Ver sus vehículos»: enviado una vez'],
  ])('names what was read by what the user agreed to, in the language %s', async (language, ...expected) => {
    await service.make.consent(client, user);
    await store(0, { scope: 'account data', requests: 2 });
    await store(0, { deliveries: 1 });
    const reader = new BrowserSession(service.url, { 'accept-language': language });
    await reader.logIn(user.email, PASSWORD);
    expect(days(await reader.open(pathOf()))[0]![1]).toEqual(expected);
  });

  it('includes what was read a moment ago', async () => {
    await service.make.consent(client, user);
    service.app
      .get(DisclosedReadsService)
      .note({ clientId: client.id, userId: user.id, scope: 'charging_session:read' });
    expect(days(await browser.open(pathOf()))).toMatchObject([
      [expect.any(String), ['“See your charging sessions”: asked once']],
    ]);
  });

  it('is shown a month at a time, with a bar for each day, and a way to the others that have something', async () => {
    await service.make.consent(client, user);
    const [last, before, first] = [
      await store(10, { requests: 1_234 }),
      await store(110, { requests: 2 }),
      await store(380, { requests: 3 }),
    ];
    const newest = await browser.open(pathOf());
    expect(days(newest)).toEqual([[words(last), ['“See your vehicles”: asked 1,234 times']]]);
    const description = newest.html.querySelector('svg.plot title')!.text;
    expect(description).toBe(`${monthOf(last)} by the day: asked 1,234 times. The list has the numbers.`);
    const inMonth = new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() + 1, 0)).getUTCDate();
    expect(newest.html.querySelectorAll('svg.plot .band')).toHaveLength(inMonth);
    expect(months(newest).map(({ text }) => text)).toEqual([`${monthOf(before)} →`]);

    const middle = await browser.open(months(newest)[0]!.getAttribute('href')!);
    expect(days(middle)).toEqual([[words(before), ['“See your vehicles”: asked twice']]]);
    expect(months(middle).map(({ text }) => text)).toEqual([`← ${monthOf(last)}`, `${monthOf(first)} →`]);
    expect(months(middle)[0]!.getAttribute('href')).toBe(pathOf());

    const oldest = await browser.open(months(middle)[1]!.getAttribute('href')!);
    expect(days(oldest)).toEqual([[words(first), ['“See your vehicles”: asked 3 times']]]);
    expect(months(oldest)).toHaveLength(1);
  });

  it.each(['2020-01', 'x', '2026-13', '', '<script>', '2026-01&month=2026-02'])(
    'is that of the newest month for %s',
    async (month) => {
      await service.make.consent(client, user);
      const day = await store(0, { requests: 1 });
      const page = await browser.open(`${pathOf()}?month=${month}`);
      expect([page.status, days(page)[0]![0]]).toEqual([200, words(day)]);
    },
  );

  it('is linked from the application, and from the page that disconnects it', async () => {
    await service.make.consent(client, user);
    for (const path of ['/account', `/account/applications/${client.id}`]) {
      const links = (await browser.open(path)).html.querySelectorAll('main a');
      expect(links.map((link) => link.getAttribute('href'))).toContain(pathOf());
    }
  });

  describe('of an application that is no longer connected', () => {
    const formerOf = (page: Page) => page.html.querySelectorAll('.entries h3').map(({ text }) => text);
    const another = madeForEach(() => service.make.client({ name: 'Never read' }));

    it('is still to be seen, but nothing of those that read nothing', async () => {
      for (const each of [client, another]) await service.make.consent(each, user);
      const day = await store(40, { deliveries: 2 });
      expect(formerOf(await browser.open('/account'))).toEqual([]);
      for (const each of [client, another]) await service.make.revokeConsent(each, user);
      const page = await browser.open('/account');
      expect(formerOf(page)).toEqual(['Northwind <b>& Co</b>']);
      expect(page.text).not.toContain('<b>');
      const links = page.html.querySelectorAll('main a').map((link) => link.getAttribute('href'));
      expect(links).toContain(pathOf());
      expect(links).not.toContain(`/account/applications/${client.id}`);
      const history = await browser.open(pathOf());
      expect(days(history)).toEqual([[words(day), ['“See your vehicles”: sent twice']]]);
      expect(history.text).toContain('It was disconnected on');
    });

    it('is listed with the others again when it is connected again', async () => {
      await service.make.consent(client, user);
      await store(40, { deliveries: 2 });
      await service.make.revokeConsent(client, user);
      await service.make.consent(client, user);
      expect(formerOf(await browser.open('/account'))).toEqual([]);
      expect((await browser.open(pathOf())).text).not.toContain('It was disconnected');
    });

    it('is no longer listed after 13 months', async () => {
      await service.make.consent(client, user);
      await store(400, { deliveries: 2 });
      await service.make.revokeConsent(client, user);
      expect(formerOf(await browser.open('/account'))).toEqual([]);
      expect((await browser.open(pathOf())).text).toContain(EMPTY);
    });
  });

  it('keeps the words of scopes that operators add', async () => {
    await service.database.query(
      "INSERT INTO scopes (name, audience, description) VALUES ('tariff:read', 'partner', 'Compare tariffs: all of them') ON CONFLICT DO NOTHING",
    );
    await service.make.consent(client, user);
    await store(0, { scope: 'tariff:read', requests: 1 });
    const [[, said]] = days(await browser.open(pathOf())) as [[string, string[]]];
    expect(said).toEqual(['“Compare tariffs”: asked once']);
  });

  it('is not said to be the name and address when the scope was removed since', async () => {
    await service.make.consent(client, user);
    await store(0, { scope: 'removed:read', requests: 1 });
    const [[, said]] = days(await browser.open(pathOf())) as [[string, string[]]];
    expect(said).toEqual(['“Removed”: asked once']);
  });

  it('belongs to the user of the session', async () => {
    const other: UserEntity = await service.make.user();
    await service.make.consent(client, user);
    await service.make.consent(client, other);
    await store(0, { requests: 1, of: other });
    await store(0, { requests: 5 });
    expect(days(await (await service.make.signedIn(other)).open(pathOf()))[0]![1]).toEqual([
      '“See your vehicles”: asked once',
    ]);
  });
});

import { HOUR_MS } from '#platform/config/durations.js';
import { madeForEach, type Page, postedAnew, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { CONSOLE, setUpConsole, type Fields } from '../support/console.js';

describe('In the console,', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });

  const { operator, browser, submit } = setUpConsole(service);
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => service.make.user());

  /** A form, the page that shows it if that has another path, and how many of what it makes exist. */
  interface Kind {
    form: () => { action: string; from?: string; fields: Fields };
    count: () => Promise<number>;
  }
  const countOf = (sql: string, parameter: string) =>
    service.database.value<number>(`SELECT count(*)::int AS n FROM ${sql}`, [parameter]);
  const grant = { scopes: ['vehicle:read'], grant_types: ['client_credentials'] };
  const KINDS: Record<string, Kind> = {
    'the secret of a new client': {
      form: () => ({
        action: `${CONSOLE}/clients/new`,
        fields: { name: `Once ${operator.id}`, owner: user.id, ...grant },
      }),
      count: () => countOf('clients WHERE name = $1', `Once ${operator.id}`),
    },
    'the secret after a rotation': {
      form: () => ({
        action: `${CONSOLE}/clients/${client.id}/secret`,
        fields: { expire_previous_in: '3600' },
      }),
      count: async () => (await countOf('client_secrets WHERE client_id = $1', client.id)) - 1,
    },
    'a link to set a password': {
      form: () => ({
        from: `${CONSOLE}/users/${user.id}`,
        action: `${CONSOLE}/users/${user.id}/password-link`,
        fields: {},
      }),
      count: () => countOf('password_links WHERE user_id = $1', user.id),
    },
    'the signing secret of a new endpoint': {
      form: () => ({
        action: `${CONSOLE}/clients/${client.id}/endpoints/new`,
        fields: { url: 'http://127.0.0.1:9/once', event_types: ['vehicle.updated'] },
      }),
      count: () => countOf('webhook_endpoints WHERE client_id = $1', client.id),
    },
  };
  const send = ({ action, from, fields }: ReturnType<Kind['form']>) => submit(action, fields, from);
  const secretIn = (page: Page) => page.html.querySelector('code.secret')?.text;
  const locationOf = (answer: Page) => {
    expect(answer.status).toBe(303);
    return answer.headers.get('location')!;
  };
  const shownCookie = () => [...browser.cookies.keys()].find((name) => /^cds_shown_/.test(name));

  describe.each(Object.entries(KINDS))('%s', (_what, { form, count }) => {
    it('is shown once after a redirect, then the page says that it was already shown; and created again by another form', async () => {
      const answer = await send(form());
      const cookie = answer.headers.getSetCookie().find((line) => line.startsWith('cds_shown_once_'))!;
      expect(cookie).toMatch(/; Max-Age=300; .*HttpOnly; SameSite=Strict/);
      const page = await browser.open(locationOf(answer));
      const secret = secretIn(page)!;
      expect(secret.length).toBeGreaterThan(40);
      expect(cookie).not.toContain(secret);
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(shownCookie()).toBeUndefined();
      const again = await browser.open(locationOf(answer));
      expect(again.text).not.toContain(secret);
      expect(again.html.querySelector('[role="alert"]')!.text).toContain('was already shown');
      expect(await count()).toBe(1);
      expect(service.log.join('')).not.toContain(secret);
      await send(form());
      expect(await count()).toBe(2);
    });

    it('is created once if the form is sent several times concurrently, and again later', async () => {
      const { action, from = action, fields } = form();
      const page = await browser.open(from);
      const post = () => browser.submit(page, action, { ...fields, ...postedAnew() });
      const answers = await Promise.all([1, 2, 3, 4].map(post));
      const places = new Set(answers.map(locationOf));
      expect(places.size).toBe(1);
      expect(
        answers.filter(({ headers }) => headers.getSetCookie().some((line) => /^cds_shown_/.test(line))),
      ).toHaveLength(1);
      expect(await count()).toBe(1);
      expect(secretIn(await browser.open([...places][0]!))).toBeDefined();
      expect(locationOf(await post())).toBe([...places][0]);
      expect(secretIn(await browser.open([...places][0]!))).toBeUndefined();
      expect(await count()).toBe(1);
    });

    it('is not shown in another session or with a changed cookie', async () => {
      const place = locationOf(await send(form()));
      const name = shownCookie()!;
      const elsewhere = await service.make.signedIn(operator);
      elsewhere.cookies.set(name, browser.cookies.get(name)!);
      expect(secretIn(await elsewhere.open(place))).toBeUndefined();
      const sealed = browser.cookies.get(name)!;
      browser.cookies.set(name, sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BA' : 'AA'));
      expect(secretIn(await browser.open(place))).toBeUndefined();
    });

    it('is not created without the field that makes the form single-use', async () => {
      const { action, from = action, fields } = form();
      const page = await browser.open(from);
      for (const once of ['', 'x', `clnt01HN2NJ9NMRZBXT1H6FT9N7735.${'A'.repeat(43)}`]) {
        await browser.submit(page, action, { ...fields, once, newest: once });
        expect(await count()).toBe(0);
      }
    });
  });

  it('a secret is shown by an instance whose clock is an hour ahead, too', async () => {
    const place = locationOf(await send(KINDS['the secret after a rotation']!.form()));
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + HOUR_MS);
    expect(secretIn(await browser.open(place).finally(() => clock.mockRestore()))).toBeDefined();
  });

  it('the form that added the fiftieth endpoint leads to it again', async () => {
    await service.database.query(
      `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
       SELECT 'endp' || lpad(n::text, 18, '0') || right($1, 8), $1, 'https://api.example/' || n, '{vehicle.updated}', ''
         FROM generate_series(1, 49) n`,
      [client.id],
    );
    const { form, count } = KINDS['the signing secret of a new endpoint']!;
    const { action, from = action, fields } = form();
    const [page, late] = [await browser.open(from), await browser.open(from)];
    const place = locationOf(await browser.submit(page, action, fields));
    expect(locationOf(await browser.submit(page, action, { ...fields, ...postedAnew() }))).toBe(place);
    expect((await browser.submit(late, action, fields)).status).toBe(400);
    expect(await count()).toBe(50);
  });
});

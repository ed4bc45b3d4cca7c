import { leadsTo, type Page, unexpectedErrors, useServiceWithProvider } from '../support/spec.js';
import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';

const PERSON = { email: 'dana@mail.example', email_verified: true, name: 'Dana Driver' };

describe('The answer of a provider that posts it', () => {
  const idp = new IdentityProvider();
  const service = useServiceWithProvider(idp, [{ response_mode: 'form_post' }]);
  beforeAll(() => void idp.people.set('dana', PERSON));
  let counter = 0;

  /** Logs in at the provider, which then shows a page whose form posts its answer by itself. */
  const loggedIn = async (
    who = 'dana',
  ): Promise<{
    browser: PersonBrowser;
    action: string;
    fields: Record<string, string>;
  }> => {
    const browser = new PersonBrowser(service.url, idp.url);
    const begun = await browser.service.submit(
      await browser.service.open('/login'),
      '/login/providers/company',
    );
    let page = await browser.there.open(leadsTo(begun)!);
    page = await browser.there.open(page.headers.get('location')!);
    const form = page.html.querySelector('form')!;
    page = await browser.there.submit(page, form.getAttribute('action')!, { person: who });
    page = await browser.there.open(page.headers.get('location')!);
    const posting = page.html.querySelector('form')!;
    const inputs = posting.querySelectorAll('input');
    return {
      browser,
      action: posting.getAttribute('action')!,
      fields: Object.fromEntries(
        inputs.map((input) => [input.getAttribute('name')!, input.getAttribute('value') ?? '']),
      ),
    };
  };
  /** As a browser posts a form from another site: without the cookies, which are `SameSite=Lax`. */
  const post = (form: Record<string, string> | [string, string][], id = 'company') =>
    service.http.send(`/login/callback/${id}`, { form, headers: { origin: idp.url } });
  const refusalOf = (page: Page): [number, string] => [page.status, page.html.querySelector('h1')!.text];

  it('of an unknown provider is not found, and what cannot be read is refused, each with a page', async () => {
    const unreadable = {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'code=%ff',
    };
    for (const [answer, status] of [
      [await post({ code: 'x' }, 'nobody'), 404],
      [await service.http.send('/login/callback/company', unreadable), 400],
    ] as const) {
      const type = answer.headers.get('content-type');
      expect([answer.status, type]).toEqual([status, 'text/html; charset=utf-8']);
    }
  });

  it('comes by a method that a refused HEAD of its address names', async () => {
    const { status, headers } = await service.http.send('/login/callback/company', { method: 'HEAD' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  it('is refused in a browser that has not begun a login, and starts no session', async () => {
    const { fields } = await loggedIn();
    const answer = await post(fields);
    const stranger = new PersonBrowser(service.url, idp.url).service;
    expect(refusalOf(await stranger.open(answer.headers.get('location')!))).toEqual([
      400,
      'This login has expired',
    ]);
    expect(stranger.cookies.get('cds_session')).toBeUndefined();
  });

  it('without anything in it, or with a repeated code, is refused', async () => {
    const { browser, fields } = await loggedIn();
    const empty = await post({});
    expect([empty.status, empty.headers.get('location')]).toEqual([303, '/login/callback/company?']);
    expect((await browser.service.open('/login/callback/company?')).status).toBe(400);
    const twice = await post([...Object.entries(fields), ['code', 'another']]);
    expect((await browser.service.open(twice.headers.get('location')!)).status).toBe(400);
    expect(browser.service.cookies.get('cds_session')).toBeUndefined();
  });

  it('goes on, with nothing but what an answer has, to the callback, which logs the person in once', async () => {
    const { browser, action, fields } = await loggedIn();
    expect(new URL(action).pathname).toBe('/login/callback/company');
    const answer = await post({
      ...fields,
      user: '{"name":{}}',
      id_token: 'x',
      return_to: 'https://evil.example',
    });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([303, 'no-store']);
    const location = answer.headers.get('location')!;
    const { pathname, searchParams } = new URL(location, service.url);
    expect([pathname, [...searchParams.keys()].sort()]).toEqual([
      '/login/callback/company',
      ['code', 'iss', 'state'],
    ]);
    const done = await browser.service.open(location);
    expect([done.status, done.headers.get('location')]).toEqual([303, '/account']);
    expect((await browser.service.open('/account/security')).text).toContain(PERSON.email);
    expect((await browser.service.open(location)).status).toBe(400);
    expect(unexpectedErrors(service)).toEqual([]);
  });

  describe('with a name beside it, as Apple posts it once,', () => {
    /** Logs in someone of whom the provider says no name; returns where the callback is, and the account that comes of it. */
    const named = async (user: string | undefined, more: { name?: string; email?: string } = {}) => {
      const sub = `apple-${++counter}`;
      const email = more.email ?? `${sub}@mail.example`;
      idp.people.set(sub, { email, email_verified: true, ...more });
      const { browser, fields } = await loggedIn(sub);
      const answer = await post({ ...fields, ...(user === undefined ? {} : { user }) });
      const location = answer.headers.get('location')!;
      const open = async (address = location) => {
        expect((await browser.service.open(address)).status).toBe(303);
        const [account] = await service.database.query<{ name: string }>(
          'SELECT name FROM users WHERE email = $1',
          [email],
        );
        return account!.name;
      };
      return { location, open, sub, browser };
    };
    const userOf = (name: unknown) => JSON.stringify({ name, email: 'someone@else.example' });

    it('names the new account', async () => {
      const { location, open } = await named(userOf({ firstName: ' Ada ', lastName: 'Lovelace' }));
      // Neither the address bar nor the log of a proxy has it.
      expect(decodeURIComponent(location)).not.toMatch(/Ada|Lovelace|someone/);
      expect(await open()).toBe('Ada Lovelace');
      expect(service.log.join('\n')).not.toContain('Lovelace');
    });

    it.each<[string, unknown, string]>([
      ['a first name alone', { firstName: 'Ada' }, 'Ada'],
      ['a last name alone', { firstName: null, lastName: 'Lovelace' }, 'Lovelace'],
    ])('is also %s', async (_what, name, expected) => {
      expect(await (await named(userOf(name))).open()).toBe(expected);
    });

    it.each<[string, string]>([
      ['what is no JSON', '{"name":'],
      ['JSON of another kind', '7'],
      ['null', 'null'],
      ['a name that is a text', userOf('Ada')],
      ['names that are no texts', userOf({ firstName: 1, lastName: { a: 'b' } })],
      ['an empty name', userOf({ firstName: ' ', lastName: '' })],
      ['a name that is too long', userOf({ firstName: 'x'.repeat(150), lastName: 'y'.repeat(60) })],
      ['a name that hides how it reads', userOf({ firstName: 'a\u202eb' })],
    ])('is nothing if it is %s', async (_what, user) => {
      const { location, open, sub } = await named(user);
      expect([...new URL(location, service.url).searchParams.keys()].sort()).toEqual([
        'code',
        'iss',
        'state',
      ]);
      expect(await open()).toBe(sub);
    });

    it('counts less than what the provider says', async () => {
      const { open } = await named(userOf({ firstName: 'Mallory' }), { name: 'Ada Lovelace' });
      expect(await open()).toBe('Ada Lovelace');
    });

    it('changes no account that is there', async () => {
      const user = await service.make.user({ name: 'Ada Lovelace', emailVerified: true });
      const { open } = await named(userOf({ firstName: 'Mallory' }), { email: user.email });
      expect(await open()).toBe('Ada Lovelace');
    });

    it('is nothing if it was written into the address, or comes from another login', async () => {
      const other = new URL((await named(userOf({ firstName: 'Mallory' }))).location, service.url);
      for (const name of ['Mallory', other.searchParams.get('name')!]) {
        const { location, open, sub } = await named(undefined);
        expect(await open(`${location}&${new URLSearchParams({ name }).toString()}`)).toBe(sub);
      }
    });
  });
});

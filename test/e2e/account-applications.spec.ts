import { isAccepted, madeForEach, madeOnce, type Page, refresh, useSharedService } from '../support/spec.js';
import { statementsDuring } from '../support/statements.js';

describe('Connected applications', () => {
  const service = useSharedService();

  const introspector = madeOnce(() => service.make.operatorClient(['token:introspect']));
  const user = madeForEach(() => service.make.user());
  const client = madeForEach(() => service.make.client({ name: 'Northwind <b>& Co</b>' }));
  const browser = madeForEach(() => service.make.signedIn(user));

  const confirmation = (of = client) => `/account/applications/${of.id}`;
  const disconnect = async (by = browser, of = client) =>
    by.submit(await by.open(confirmation(of)), confirmation(of));
  const introspect = async (token: string, userId?: string) =>
    (
      await service.http.send('/o/introspect/', {
        form: { token, user_id: userId },
        basic: { id: introspector.id, secret: introspector.secret },
      })
    ).json;
  const audited = (action: string) =>
    service.database.query(
      `SELECT actor_type, actor_id, address, before->>'client_id' AS client FROM audit_events
        WHERE action = $1 AND subject_id = $2`,
      [action, user.id],
    );
  const names = (page: Page) => page.html.querySelectorAll('.entries h2').map(({ text }) => text);
  /** Returns the text under a heading of an application, for example "Last used". */
  const factOf = (page: Page, heading: string) =>
    page.html
      .querySelectorAll('.facts > div')
      .find((row) => row.querySelector('dt')!.text === heading)
      ?.querySelector('dd')!.text;

  it('are listed with their scopes in plain words, and when they were connected and last used', async () => {
    await service.make.tokens(client, user, 'vehicle:read');
    await service.database.query(
      `UPDATE consents SET granted_at = '2024-02-29T10:00:00Z' WHERE user_id = $1`,
      [user.id],
    );
    await service.database.query(`UPDATE grants SET issued_at = '2024-03-01T11:30:00Z' WHERE user_id = $1`, [
      user.id,
    ]);
    const page = await browser.open('/account');
    expect(names(page)).toEqual(['Northwind <b>& Co</b>']);
    expect(page.text).not.toContain('<b>');
    const items = page.html.querySelectorAll('.entries ul li').map(({ text }) => text.trim());
    expect(items).toEqual(['See your vehicles: make, model, battery level and whether they are plugged in']);
    expect(factOf(page, 'Connected')).toBe('29 February 2024 at 10:00 UTC');
    expect(factOf(page, 'Last used')).toBe('1 March 2024 at 11:30 UTC');
    expect(page.text).not.toContain('vehicle:read');
  });

  it('show the last refresh as last use, even after the access token has expired', async () => {
    const tokens = await service.make.tokens(client, user);
    await service.database.query(
      `UPDATE grants SET issued_at = now() - interval '40 days' WHERE user_id = $1`,
      [user.id],
    );
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
    const before = day.format(new Date());
    expect((await refresh(service.http, client, tokens.refresh_token)).status).toBe(200);
    const days = [before, day.format(new Date())];
    expect(days).toContain(factOf(await browser.open('/account'), 'Last used')!.split(' at ')[0]);
  });

  // Also those with a token of their own, whose reads are recorded for each user.
  it('that never received a token for the user, and read nothing, were not used', async () => {
    await service.make.consent(client, user);
    expect(factOf(await browser.open('/account'), 'Last used')).toBe('Not recently');
    await service.make.updateClient(client, { enabled: false });
    expect((await browser.open('/account')).text).toContain('Disabled by the service');
  });

  it('show the day on which they last read something, if that is known and later than their last token', async () => {
    await service.make.tokens(client, user);
    const reader = await service.make.client({ grantTypes: ['client_credentials'], redirectUris: [] });
    const unread = await service.make.client({ grantTypes: ['client_credentials'], redirectUris: [] });
    for (const each of [reader, unread]) await service.make.consent(each, user);
    await service.database.query(`UPDATE consents SET granted_at = '2026-02-01T10:00Z' WHERE user_id = $1`, [
      user.id,
    ]);
    await service.database.query(
      `UPDATE grants SET created_at = '2026-02-01T10:00Z', issued_at = '2026-02-02T10:00Z' WHERE user_id = $1`,
      [user.id],
    );
    await service.database.query(
      `INSERT INTO disclosure_days (user_id, client_id, day, scope, requests, deliveries)
       SELECT $1, c, d, 'vehicle:read', 1, 0
         FROM (VALUES ($2, '2026-02-03'::date), ($2, '2026-02-02'), ($3, '2026-02-04'), ($4, '2026-01-31')) r (c, d)`,
      [user.id, client.id, reader.id, unread.id],
    );
    const lastUsed = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        (await browser.open('/account')).html.querySelectorAll('.entries > li').map((entry) => [
          entry.querySelector('a[href$="/history"]')!.getAttribute('href')!.split('/')[3]!,
          entry
            .querySelectorAll('.facts > div')
            .find(({ text }) => text.includes('Last used'))!
            .querySelector('dd')!.text,
        ]),
      );
    expect(await lastUsed()).toEqual({
      [client.id]: '3 February 2026',
      [reader.id]: '4 February 2026',
      [unread.id]: 'Not recently',
    });
    await service.database.query(`UPDATE grants SET issued_at = '2026-02-03T09:30Z' WHERE user_id = $1`, [
      user.id,
    ]);
    expect((await lastUsed())[client.id]).toBe('3 February 2026 at 09:30 UTC');
  });

  it('have a page that explains disconnecting, and disconnects nothing until the button is pressed', async () => {
    const tokens = await service.make.tokens(client, user);
    const text = (await browser.open(confirmation())).html.querySelector('main')!.text;
    for (const words of ['no longer read', 'keeps the data', 'connect it again'])
      expect(text).toContain(words);
    expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
    const another = await service.make.client({ grantTypes: ['client_credentials'], redirectUris: [] });
    await service.make.consent(another, user);
    expect((await browser.open(confirmation(another))).text).not.toContain('connect it again');
  });

  it("lose tokens, codes and their own access to the user's data immediately when disconnected", async () => {
    const bystander = await service.make.user();
    const tokens = await service.make.tokens(client, user);
    const theirs = await service.make.tokens(client, bystander);
    const elsewhere = await service.make.tokens(await service.make.client(), user);
    const own = await service.make.clientToken(client);
    const code = await service.make.code(client, user);
    expect(await introspect(tokens.access_token)).toMatchObject({ active: true, sub: user.id });
    expect(await introspect(own, user.id)).toMatchObject({
      active: true,
      scope: expect.stringContaining('vehicle:read'),
    });

    expect((await disconnect()).headers.get('location')).toBe('/account');

    expect(await introspect(tokens.access_token)).toEqual({ active: false });
    expect((await refresh(service.http, client, tokens.refresh_token)).json.error).toBe('invalid_grant');
    expect(await introspect(own, user.id)).toMatchObject({ active: true, scope: '' });
    const exchanged = await service.http.token(
      { grant_type: 'authorization_code', code, redirect_uri: client.redirectUris[0] },
      { id: client.id, secret: client.secret },
    );
    expect(exchanged.json.error).toBe('invalid_grant');
    for (const token of [theirs.access_token, elsewhere.access_token, own])
      expect(await introspect(token)).toMatchObject({ active: true });
    expect(names(await browser.open('/account'))).not.toContain('Northwind');
    expect((await browser.open(confirmation())).status).toBe(404);
    expect(await audited('consent.revoked')).toEqual([
      { actor_type: 'user', actor_id: user.id, address: '127.0.0.1', client: client.id },
    ]);
  });

  it('can be connected again, with only the new scopes', async () => {
    await service.make.tokens(client, user);
    await disconnect();
    await service.make.consent(client, user, ['vehicle:read']);
    const page = await browser.open('/account');
    expect(page.html.querySelectorAll('.entries ul li')).toHaveLength(1);
    // Use before the disconnection no longer counts.
    expect(factOf(page, 'Last used')).toBe('Not recently');
  });

  it('are disconnected once, even when the form is submitted repeatedly or from two browsers at once', async () => {
    const another = await service.make.signedIn(user);
    for (let round = 0; round < 2; round++) {
      await service.make.consent(client, user);
      const browsers = [browser, another, browser, another];
      const pages = await Promise.all(browsers.map((by) => by.open(confirmation())));
      const answers = await Promise.all(browsers.map((by, n) => by.submit(pages[n]!, confirmation())));
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
      expect(await audited('consent.revoked')).toHaveLength(round + 1);
    }
  });

  it('are listed in pages, with as many queries for many as for a few', async () => {
    const asked = async (path: string) => {
      const statements = await statementsDuring(service, async () => {
        expect((await browser.open(path)).status).toBe(200);
      });
      return statements.length;
    };
    await service.make.consent(client, user);
    const forOne = await asked('/account');
    await service.database.query('DELETE FROM consents WHERE user_id = $1', [user.id]);
    const owner = await service.make.user();
    await service.database.query(
      `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
       SELECT 'clnt' || lpad(n::text, 26, '0'), 'Application ' || n, 'public', '{authorization_code}',
              '{vehicle:read}', '{}', $1 FROM generate_series(1, 60) n`,
      [owner.id],
    );
    await service.database.query(
      `INSERT INTO consents (client_id, user_id, scopes) SELECT id, $2, scopes FROM clients WHERE owner_id = $1`,
      [owner.id, user.id],
    );
    expect(forOne).toBeGreaterThan(1);
    expect(await asked('/account')).toBe(forOne);
    const seen: string[] = [];
    let path: string | undefined = '/account';
    let last = '';
    while (path) {
      const page: Page = await browser.open(path);
      seen.push(...names(page));
      last = path;
      path = page.html.querySelector('a[rel="next"]')?.getAttribute('href');
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, n) => `Application ${n + 1}`));
    const back = (await browser.open(last)).html.querySelector('a[rel="prev"]')!.getAttribute('href')!;
    expect(names(await browser.open(back))).toEqual(seen.slice(25, 50));
    const beyond = await browser.open('/account?page_after=clnt7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
    expect(beyond.text).toContain('nothing more here');
  });
});

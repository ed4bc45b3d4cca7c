import { madeOnce, makeEndpoint, seedDelivery, useSharedService, WEBHOOK_ENV } from '../support/spec.js';

const service = useSharedService({ env: WEBHOOK_ENV });
const CONSOLE = '/admin/console';
const NAME = 'Search Gridworks';
const client = madeOnce(() => service.make.client({ name: NAME }));
const driver = madeOnce(() =>
  service.make.user({ name: 'Searched Driver', email: 'searched.driver@example.com' }),
);
const viewer = madeOnce(() => service.make.signedInNew({ role: 'operator', operatorRole: 'viewer' }));

const search = (q: string) => viewer.open(`${CONSOLE}/search?${new URLSearchParams({ q }).toString()}`);
/** Where a search leads that has only one hit. */
const ledTo = async (q: string) => (await search(q)).headers.get('location');
const explain = (id: string) => viewer.open(`${CONSOLE}/requests/${encodeURIComponent(id)}`);

describe('The search of the console', () => {
  it('is for operators only', async () => {
    const browser = await service.make.signedIn(driver);
    expect((await browser.open(`${CONSOLE}/search?q=a`)).status).toBe(403);
    expect((await browser.open(`${CONSOLE}/requests/a`)).status).toBe(403);
  });

  it.each(['', '   ', 'nothing-is-called-so', '%', "' OR 1=1 --", 'dlvr01HN2NJ9NMRZBXT1H6FT9N7735'])(
    'says what can be searched for, or that there is nothing: %j',
    async (q) => {
      const page = await search(q);
      expect([page.status, page.html.querySelectorAll('.hits a').length]).toEqual([200, 0]);
      expect(page.html.querySelector('.empty')).not.toBeNull();
    },
  );

  it('leads straight to the only hit', async () => {
    const endpoint = await makeEndpoint(service, client, { url: 'http://127.0.0.1:9/search-gridworks/in' });
    expect(await ledTo(client.id)).toBe(`${CONSOLE}/clients/${client.id}`);
    expect(await ledTo(` ${NAME.toLowerCase()} `)).toBe(`${CONSOLE}/clients/${client.id}`);
    expect(await ledTo(driver.id)).toBe(`${CONSOLE}/users/${driver.id}`);
    expect(await ledTo('SEARCHED.driver@example.com')).toBe(`${CONSOLE}/users/${driver.id}`);
    expect(await ledTo(endpoint.id)).toBe(`${CONSOLE}/endpoints/${endpoint.id}`);
    expect(await ledTo('127.0.0.1:9/SEARCH-gridworks')).toBe(`${CONSOLE}/endpoints/${endpoint.id}`);
  });

  it('finds a delivery by its id and by that of its event, and a grant', async () => {
    const endpoint = await makeEndpoint(service, client);
    const user = await service.make.user();
    await service.make.consent(client, user);
    const id = await seedDelivery(service, endpoint, { state: 'failed', userId: user.id });
    const path = `${CONSOLE}/deliveries/${id}`;
    expect(await ledTo(id)).toBe(path);
    const eventId = await service.database.value<string>('SELECT event_id FROM deliveries WHERE id = $1', [
      id,
    ]);
    expect(await ledTo(eventId)).toBe(path);
    await service.make.tokens(client, user);
    const grantId = await service.database.value<string>('SELECT id FROM grants WHERE user_id = $1', [
      user.id,
    ]);
    expect(await ledTo(grantId)).toBe(`${CONSOLE}/users/${user.id}/grants`);
  });

  it('marks what is in a sandbox, beside what is live and has the same name', async () => {
    const owner = await service.make.user();
    const name = 'Twofold Planner';
    const [live, inSandbox] = [
      await service.make.client({ name, ownerId: owner.id }),
      await service.make.client({ name, ownerId: owner.id, environment: 'sandbox' }),
    ];
    const page = await search('twofold');
    const marked = page.html
      .querySelectorAll('.hits li')
      .map((hit) => [hit.querySelector('a')!.getAttribute('href'), hit.querySelector('.badge')?.text]);
    expect(Object.fromEntries(marked)).toEqual({
      [`${CONSOLE}/clients/${live.id}`]: undefined,
      [`${CONSOLE}/clients/${inSandbox.id}`]: 'Sandbox',
    });
  });

  it('lists several hits by kind', async () => {
    await service.make.user({ name: 'Doubled Somewhere' });
    await service.make.client({ name: 'Doubled Somewhere' });
    const page = await search('doubled some');
    expect(page.html.querySelectorAll('h2').map(({ text }) => text)).toEqual(['Clients', 'Users']);
    expect(page.html.querySelector('.filters input')!.getAttribute('value')).toBe('doubled some');
  });
});

describe('The page that explains a request', () => {
  const refusedToken = (secret: string) =>
    service.http.token({ grant_type: 'client_credentials' }, { id: client.id, secret });
  const idOf = (answer: { headers: Headers }) => answer.headers.get('x-request-id')!;

  it('answers 404 where nothing is known', async () => {
    const page = await explain('never-seen');
    expect([page.status, page.text.includes('no record of this request')]).toEqual([404, true]);
    // The key that leads to the search works on errors, too.
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
  });

  it.each([
    ['a wrong secret', () => refusedToken('not the secret'), 'Wrong secret', 401],
    ['no token', () => service.http.get('/v2/users'), 'No access token', 401],
    [
      'a forged token',
      () => service.http.get('/v2/users', { bearer: 'cds_at_forged' }),
      'Malformed access token',
      401,
    ],
    [
      'an unknown grant type',
      () => service.http.token({ grant_type: 'password' }, client),
      'Unknown grant type',
      400,
    ],
    ['a path that is nowhere', () => service.http.get('/v2/nowhere'), 'There is nothing at this URL', 404],
  ])('says why %s was refused, and what to do', async (_what, ask, why, status) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    const id = idOf(answer);
    expect(await ledTo(id)).toBe(`${CONSOLE}/requests/${id}`);
    const page = await explain(id);
    expect(page.html.querySelector('.verdict h2')!.text).toContain(why);
    expect(page.html.querySelector('.verdict p')!.text.length).toBeGreaterThan(10);
    expect(page.text).toContain(String(status));
    const ofClient = page.html
      .querySelectorAll('.facts > div')
      .find(({ text }) => text.startsWith('Client'))!;
    const isKnown = ofClient.querySelector('a') !== null;
    expect(ofClient.querySelector('dd')!.text).toMatch(
      isKnown ? new RegExp(`^${NAME}`) : /^none that is known$/,
    );
  });

  it('shows what the client asked for before, and what the request changed', async () => {
    const bearer = await service.make.clientToken(client);
    await service.http.get('/v2/users', { bearer });
    const refused = await service.http.get('/v2/users', { bearer, headers: { 'service-version': '99' } });
    const page = await explain(idOf(refused));
    expect(page.html.querySelectorAll('h2').map(({ text }) => text)).toContain(
      'What this client asked for until then',
    );
    expect(page.text).toContain('/v2/users');
  });

  it('shows all requests that share an id of the callers’ choice', async () => {
    const headers = { 'x-request-id': 'chosen-by-callers' };
    await service.http.get('/v2/users', { headers });
    await service.http.get('/v2/nowhere', { headers });
    const page = await explain('chosen-by-callers');
    expect(page.html.querySelectorAll('dl.facts')).toHaveLength(2);
    expect(page.text).toContain('These 2 have the same');
  });

  it('keeps no query, no token, no secret and no address', async () => {
    const answer = await service.http.get('/v2/nowhere?secret=query-value', {
      bearer: 'cds_at_do-not-keep',
      headers: { 'x-request-id': 'kept-for-a-week' },
    });
    await explain('kept-for-a-week');
    const [row] = await service.database.query<{ row: string }>(
      "SELECT row_to_json(r)::text AS row FROM request_records r WHERE request_id = 'kept-for-a-week'",
    );
    expect(answer.status).toBeGreaterThanOrEqual(400);
    for (const kept of ['query-value', 'do-not-keep', '127.0.0.1']) expect(row!.row).not.toContain(kept);
  });
});

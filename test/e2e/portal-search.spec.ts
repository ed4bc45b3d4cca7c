import { BrowserSession, madeOnce, useSharedService, WEBHOOK_ENV, Webhooks } from '../support/spec.js';
import { enterPortal, makeEndpoint, seedDelivery, wordsOf } from '../support/portal.js';

const service = useSharedService({ env: WEBHOOK_ENV });
const webhooks = madeOnce(() => Webhooks.start(service));
const client = madeOnce(() => service.make.client());
const stranger = madeOnce(() => service.make.client());
const browser = madeOnce(() => enterPortal(service, client));
const strangersBrowser = madeOnce(() => enterPortal(service, stranger));

const pathOf = (q: string) => `/portal/search?${new URLSearchParams({ q }).toString()}`;
const explanationOf = (id: string) => `/portal/requests/${encodeURIComponent(id)}`;
/** Where a search leads that has only one hit. */
const ledTo = async (q: string, of = browser as BrowserSession) =>
  (await of.open(pathOf(q))).headers.get('location');
const tokenWith = (secret: string, id = client.id) =>
  service.http.token({ grant_type: 'client_credentials' }, { id, secret });
const idOf = (answer: { headers: Headers }) => answer.headers.get('x-request-id')!;
const notFoundAt = async (path: string, of = browser as BrowserSession) => {
  const page = await of.open(path);
  return [page.status, wordsOf(page).replaceAll(/request ID \S+/g, '')];
};

describe('The search of the portal', () => {
  it.each(['/portal/search?q=a', '/portal/requests/a'])('is for visitors only: %s', async (path) => {
    expect((await new BrowserSession(service.url).open(path)).status).toBe(401);
  });

  it.each(['', '  ', 'nothing-is-called-so', '%', "' OR 1=1 --", 'dlvr01HN2NJ9NMRZBXT1H6FT9N7735'])(
    'says what can be searched for, or that there is nothing: %j',
    async (q) => {
      const page = await browser.open(pathOf(q));
      expect([page.status, page.html.querySelectorAll('.hits a').length]).toEqual([200, 0]);
      expect(page.html.querySelector('.empty')).not.toBeNull();
    },
  );

  it('leads straight to the only hit, and never to what another client has', async () => {
    const endpoint = await makeEndpoint(service, client, { url: 'http://127.0.0.1:9/own-gridworks/in' });
    const delivery = await seedDelivery(service, endpoint, { state: 'failed' });
    const event = await service.database.value<string>('SELECT event_id FROM deliveries WHERE id = $1', [
      delivery,
    ]);
    const request = idOf(await tokenWith('not the secret'));
    await service.database.query(
      "INSERT INTO client_contacts (id, client_id, email, email_key) VALUES ('cont01HN2NJ9NMRZBXT1H6FT9N7735', $1, 'Ops@own.example', 'ops@own.example')",
      [client.id],
    );
    const places = {
      [endpoint.id]: `/portal/endpoints/${endpoint.id}`,
      'OWN-gridworks': `/portal/endpoints/${endpoint.id}`,
      [delivery]: `/portal/deliveries/${delivery}`,
      [event]: `/portal/deliveries/${delivery}`,
      [` ${request} `]: explanationOf(request),
      'ops@OWN.example': '/portal/contacts',
    };
    for (const [q, place] of Object.entries(places)) {
      expect([q, await ledTo(q)]).toEqual([q, place]);
      expect([q, (await strangersBrowser.open(pathOf(q))).html.querySelectorAll('.hits a').length]).toEqual([
        q,
        0,
      ]);
      expect([q, await ledTo(q, strangersBrowser)]).toEqual([q, null]);
    }
  });

  it('lists several hits by kind', async () => {
    await makeEndpoint(service, client, { url: 'http://127.0.0.1:9/doubled/1' });
    await makeEndpoint(service, client, { url: 'http://127.0.0.1:9/doubled/2' });
    const page = await browser.open(pathOf('doubled/'));
    expect(page.html.querySelectorAll('main h2').map(({ text }) => text)).toEqual(['Endpoints']);
    expect(page.html.querySelectorAll('.hits a')).toHaveLength(2);
  });
});

describe('The page of the portal that explains a request', () => {
  it('is not there for a request of another client, as for one that nobody sent', async () => {
    const refused = idOf(await tokenWith('not the secret', stranger.id));
    const bearer = await service.make.clientToken(stranger);
    const served = idOf(await service.http.get('/v2/users', { bearer }));
    const nobodys = idOf(await service.http.get('/v2/users'));
    const unknown = await notFoundAt(explanationOf('never-sent'));
    expect(unknown[0]).toBe(404);
    for (const id of [refused, served, nobodys]) expect(await notFoundAt(explanationOf(id))).toEqual(unknown);
    expect((await strangersBrowser.open(explanationOf(served))).status).toBe(200);
  });

  it('shows only what is the client’s of requests that share an id of the callers’ choice', async () => {
    const headers = { 'x-request-id': 'chosen-by-two' };
    const bearers = await Promise.all([client, stranger].map((each) => service.make.clientToken(each)));
    await service.http.get('/v2/users', { bearer: bearers[0], headers });
    await service.http.get('/v2/sandbox/drivers', { bearer: bearers[1], headers });
    const page = await browser.open(explanationOf('chosen-by-two'));
    expect(page.html.querySelectorAll('main dl.facts')).toHaveLength(1);
    expect(wordsOf(page)).not.toContain('/v2/sandbox');
  });

  it.each<[string, () => Promise<{ headers: Headers }>, string]>([
    ['a wrong secret', () => tokenWith('not the secret'), 'Wrong secret'],
    [
      'a version that is not there',
      async () =>
        service.http.get('/v2/users', {
          bearer: await service.make.clientToken(client),
          headers: { 'service-version': '99' },
        }),
      'version',
    ],
  ])('says why %s was refused, and what to do', async (_what, ask, why) => {
    const page = await browser.open(explanationOf(idOf(await ask())));
    expect(page.html.querySelector('.verdict h2')!.text).toContain(why);
    expect(page.html.querySelector('.verdict p')!.text.length).toBeGreaterThan(10);
  });

  it('leads to the deliveries that a request caused: to the client’s own, and for operators to all', async () => {
    const user = await webhooks.consentedUser(client, stranger);
    const [own, others] = [await webhooks.endpoint(client), await webhooks.endpoint(stranger)];
    const headers = { 'x-request-id': 'published-by' };
    const published = await webhooks.publish(user.id, {}, { headers });
    expect(published.status).toBe(202);
    const events = await service.database.query('SELECT id FROM events WHERE request_id = $1', [
      'published-by',
    ]);
    expect(events).toEqual([{ id: (published.json as { id: string }).id }]);
    // A request of the client with the same id is its own.
    await service.http.get('/v2/users', { bearer: await service.make.clientToken(client), headers });
    const links = (page: {
      html: { querySelectorAll(s: string): { getAttribute(n: string): string | undefined }[] };
    }) =>
      page.html
        .querySelectorAll('main a[href*="/deliveries/"]')
        .map((link) => link.getAttribute('href')!.split('/').pop());
    const idAt = (endpoint: { id: string }) =>
      service.database.value<string>('SELECT id FROM deliveries WHERE endpoint_id = $1', [endpoint.id]);
    expect(links(await browser.open(explanationOf('published-by')))).toEqual([await idAt(own)]);
    const viewer = await service.make.signedInNew({ role: 'operator', operatorRole: 'viewer' });
    const console = await viewer.open('/admin/console/requests/published-by');
    expect(links(console).sort()).toEqual([await idAt(own), await idAt(others)].sort());
  });

  it('knows the request of a driver who takes a consent back, and of a test', async () => {
    await webhooks.endpoint(client, { types: ['user.consent_revoked'] });
    const user = await webhooks.consentedUser(client);
    const driver = await service.make.signedIn(user);
    const page = await driver.fillIn(`/account/applications/${client.id}`);
    expect(page.status).toBe(303);
    const endpoint = await makeEndpoint(service, client);
    const test = await browser.fillIn(`/portal/endpoints/${endpoint.id}/test`, { type: 'vehicle.updated' });
    expect(test.status).toBe(303);
    const ids = await service.database.query<{ request_id: string }>(
      `SELECT v.request_id FROM events v WHERE (v.type = 'user.consent_revoked' AND v.user_id = $1)
           OR v.id = (SELECT event_id FROM deliveries WHERE endpoint_id = $2)`,
      [user.id, endpoint.id],
    );
    expect(ids.map(({ request_id: id }) => id).sort()).toEqual([idOf(page), idOf(test)].sort());
  });
});

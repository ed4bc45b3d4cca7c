import { newId } from '#platform/secrets/ids.js';
import { BrowserSession, csrfTokenOn, madeOnce, useSharedService } from '../support/spec.js';
import { enterPortal, makeEndpoint, seedDelivery, wordsOf } from '../support/portal.js';
import { listOf } from '../support/list-of.js';

/** Paths below `/portal`, by the kind of resource that they belong to. */
const OF_ENDPOINT = ['', '/edit', '/rotate', '/delete', '/test', '/recover'];
const POSTS_OF_ENDPOINT = listOf(`
  /edit, /enable, /disable, /secret, /rotate, /delete, /test, /recover, /headers, /missed
`);
const GARBAGE = [
  'x',
  'endp',
  'endp0',
  `endp${'0'.repeat(26)}`,
  `dlvr${'0'.repeat(26)}`,
  '%27%20OR%201=1',
  '%3Cscript%3E',
  'a'.repeat(400),
];
const HTML = 'text/html; charset=utf-8';

describe('The pages of the portal', () => {
  const service = useSharedService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });
  let deliveryId: string;
  let recoveryId: string;
  let browser: BrowserSession;

  const client = madeOnce(() => service.make.client({ name: 'Northwind' }));
  const endpoint = madeOnce(() => makeEndpoint(service, client, { url: 'http://127.0.0.1:9/northwind' }));
  beforeAll(async () => {
    deliveryId = await seedDelivery(service, endpoint, { state: 'failed', attempts: [{ status: 500 }] });
    recoveryId = newId('rcvr');
    await service.database.query(
      `INSERT INTO webhook_recoveries (id, client_id, endpoint_id, failed_from, failed_to, total)
       VALUES ($1, $2, $3, now(), now(), 0)`,
      [recoveryId, client.id, endpoint.id],
    );
    browser = await enterPortal(service, client);
  });

  const pages = (): string[] => [
    '/portal',
    '/portal/endpoints/new',
    '/portal/deliveries',
    '/portal/deliveries/matching',
    '/portal/event_types',
    '/portal/verify',
    ...OF_ENDPOINT.map((part) => `/portal/endpoints/${endpoint.id}${part}`),
    `/portal/deliveries/${deliveryId}`,
    `/portal/recoveries/${recoveryId}`,
  ];
  const forms = (): string[] => [
    '/portal/endpoints/new',
    '/portal/verify',
    '/portal/deliveries/selected',
    '/portal/deliveries/matching',
    ...POSTS_OF_ENDPOINT.map((part) => `/portal/endpoints/${endpoint.id}${part}`),
    `/portal/deliveries/${deliveryId}/resend`,
  ];
  const everything = async (): Promise<string> =>
    JSON.stringify(
      await service.database.query(
        `SELECT (SELECT json_agg(e) FROM webhook_endpoints e WHERE client_id = $1) AS endpoints,
                (SELECT json_agg(d) FROM deliveries d WHERE client_id = $1) AS deliveries,
                (SELECT count(*) FROM webhook_recoveries WHERE client_id = $1) AS recoveries,
                (SELECT count(*) FROM audit_events WHERE subject_id IN ($2, $3)) AS audited`,
        [client.id, endpoint.id, deliveryId],
      ),
    );

  it('answer 401 without a session, for every path', async () => {
    const stranger = new BrowserSession(service.url);
    for (const path of pages()) {
      const page = await stranger.open(path);
      expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 401, HTML]);
      expect(wordsOf(page)).toContain('You are not logged in to the webhook portal');
      expect(wordsOf(page)).toContain('GET /webhook_portal');
      expect(page.text).not.toContain('northwind');
    }
    const before = await everything();
    for (const path of forms()) expect((await stranger.open(path, { form: {} })).status).toBe(401);
    expect((await stranger.open('/portal/endpoints/x')).status).toBe(401);
    expect(await everything()).toBe(before);
  });

  it("answer 404 for another client's endpoints, deliveries and recoveries", async () => {
    const inside = await enterPortal(service, await service.make.client());
    const foreign = [...pages(), ...forms()].filter((path) => path.includes(endpoint.id));
    const before = await everything();
    for (const path of [...foreign, `/portal/deliveries/${deliveryId}`, `/portal/recoveries/${recoveryId}`]) {
      const page = await inside.open(path);
      // The address of such a form does not accept GET.
      expect([path, page.status]).toEqual([
        path,
        /\/(enable|disable|missed)$/.test(path) ? 405 : /\/(secret|headers)$/.test(path) ? 303 : 404,
      ]);
      expect(page.text).not.toContain('northwind');
    }
    const csrf_token = csrfTokenOn(await inside.open('/portal/endpoints/new'));
    for (const path of forms().filter((each) => /endp0|dlvr0/.test(each))) {
      const answer = await inside.open(path, { form: { csrf_token, url: 'http://127.0.0.1:9/taken' } });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect(wordsOf(await inside.open('/portal'))).toContain('There are no endpoints yet');
    expect(wordsOf(await inside.open(`/portal/deliveries?endpoint=${endpoint.id}`))).toContain(
      'No deliveries match',
    );
    expect(await everything()).toBe(before);
  });

  it.each(GARBAGE)('answer 404 for the id %j', async (id) => {
    for (const kind of ['endpoints', 'deliveries', 'recoveries']) {
      const page = await browser.open(`/portal/${kind}/${id}`);
      expect([kind, page.status, page.headers.get('content-type')]).toEqual([kind, 404, HTML]);
    }
  });

  it('answer 404 for an unknown id, on every path below it', async () => {
    const id = `endp${'0'.repeat(26)}`;
    for (const part of OF_ENDPOINT)
      expect((await browser.open(`/portal/endpoints/${id}${part}`)).status).toBe(404);
    for (const path of [
      ...POSTS_OF_ENDPOINT.map((part) => `/portal/endpoints/${id}${part}`),
      `/portal/deliveries/dlvr${'0'.repeat(26)}/resend`,
    ])
      expect([path, (await browser.open(path, { form: {} })).status]).toEqual([path, 404]);
  });

  it('answer 400 for an id with NUL', async () => {
    for (const path of ['/portal/endpoints/%00', '/portal/deliveries/%00', '/portal/recoveries/%00']) {
      const page = await browser.open(path);
      expect([page.status, page.headers.get('content-type')]).toEqual([400, HTML]);
    }
  });

  it('answer 404 for a deleted endpoint', async () => {
    const gone = await makeEndpoint(service, client);
    await browser.fillIn(`/portal/endpoints/${gone.id}/delete`);
    for (const part of OF_ENDPOINT)
      expect((await browser.open(`/portal/endpoints/${gone.id}${part}`)).status).toBe(404);
  });

  // test/properties/support/refused-forms.ts has every form without its token, and with that of another form.
  it('accept no form with the CSRF token of another session', async () => {
    const path = `/portal/endpoints/${endpoint.id}/delete`;
    const before = await everything();
    const page = await (await enterPortal(service, client)).open(path);
    expect((await browser.submit(page, path)).status).toBe(403);
    expect(await everything()).toBe(before);
  });

  it('show whose portal it is, with a way out, and no secret', async () => {
    for (const path of pages()) {
      const page = await browser.open(path);
      const whose = page.html.querySelector('[aria-label="Portal owner"]')!.text;
      expect([path, page.status, whose]).toEqual([path, 200, expect.stringContaining('Northwind')]);
      expect(page.html.querySelectorAll('form[action="/portal/logout"]')).toHaveLength(1);
      expect(page.text).not.toContain('whsec_A');
    }
  });
});

import { newId } from '../../src/secrets/ids.js';
import type { EndpointEntity } from '../../src/webhooks/endpoints/endpoint.entity.js';
import { BrowserSession } from '../support/browser-session.js';
import type { TestClient } from '../support/factory.js';
import { enterPortal, makeEndpoint, seedDelivery, wordsOf } from '../support/portal.js';
import { startService, type TestService } from '../support/test-service.js';

/** Paths below `/portal`, by the kind of resource that they belong to. */
const OF_ENDPOINT = ['', '/edit', '/rotate', '/delete', '/test', '/recover'];
const POSTS_OF_ENDPOINT = [
  '/edit',
  '/enable',
  '/disable',
  '/secret',
  '/rotate',
  '/delete',
  '/test',
  '/recover',
  '/headers',
  '/missed',
];
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

describe('The pages of the portal', () => {
  let service: TestService;
  let client: TestClient;
  let endpoint: EndpointEntity;
  let deliveryId: string;
  let recoveryId: string;
  let browser: BrowserSession;

  beforeAll(async () => {
    service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });
    client = await service.make.client({ name: 'Northwind' });
    endpoint = await makeEndpoint(service, client, { url: 'http://127.0.0.1:9/northwind' });
    deliveryId = await seedDelivery(service, endpoint, { state: 'failed', attempts: [{ status: 500 }] });
    recoveryId = newId('rcvr');
    await service.database.query(
      `INSERT INTO webhook_recoveries (id, client_id, endpoint_id, failed_from, failed_to, total)
       VALUES ($1, $2, $3, now(), now(), 0)`,
      [recoveryId, client.id, endpoint.id],
    );
    browser = await enterPortal(service, client);
  });
  afterAll(() => service.stop());

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
        `SELECT (SELECT json_agg(e) FROM webhook_endpoints e) AS endpoints, (SELECT json_agg(d) FROM deliveries d) AS deliveries,
                (SELECT count(*) FROM webhook_recoveries) AS recoveries,
                (SELECT count(*) FROM audit_events WHERE subject_type IN ('webhook_endpoint', 'delivery')) AS audited`,
      ),
    );

  it('answer 401 without a session, for every path', async () => {
    const stranger = new BrowserSession(service.url);
    for (const path of pages()) {
      const page = await stranger.open(path);
      expect([path, page.status, page.headers.get('content-type')]).toEqual([
        path,
        401,
        'text/html; charset=utf-8',
      ]);
      expect(wordsOf(page)).toContain('You are not logged in to the webhook portal');
      expect(page.text).not.toContain('northwind');
    }
    const before = await everything();
    for (const path of forms()) expect((await stranger.open(path, { form: {} })).status).toBe(401);
    expect((await stranger.open('/portal/endpoints/x')).status).toBe(401);
    expect(await everything()).toBe(before);
  });

  it("answer 404 for another client's endpoints, deliveries and recoveries", async () => {
    const other = await service.make.client();
    const inside = await enterPortal(service, other);
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
    const csrf = (await inside.open('/portal/endpoints/new')).html
      .querySelector('input[name=csrf_token]')!
      .getAttribute('value');
    for (const path of forms().filter((each) => /endp0|dlvr0/.test(each))) {
      const answer = await inside.open(path, { form: { csrf_token: csrf, url: 'http://127.0.0.1:9/taken' } });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect(wordsOf(await inside.open('/portal'))).toContain('There are no endpoints yet');
    expect(wordsOf(await inside.open(`/portal/deliveries?endpoint=${endpoint.id}`))).toContain(
      'No deliveries match',
    );
    expect(await everything()).toBe(before);
  });

  it.each(GARBAGE)('answer 404 for the id %j', async (id) => {
    const paths = [
      ...OF_ENDPOINT.map((part) => `/portal/endpoints/${id}${part}`),
      `/portal/deliveries/${id}`,
      `/portal/recoveries/${id}`,
    ];
    for (const path of paths) {
      const page = await browser.open(path);
      expect([path, page.status, page.headers.get('content-type')]).toEqual([
        path,
        404,
        'text/html; charset=utf-8',
      ]);
    }
    for (const part of POSTS_OF_ENDPOINT) {
      expect((await browser.open(`/portal/endpoints/${id}${part}`, { form: {} })).status).toBe(404);
    }
    expect((await browser.open(`/portal/deliveries/${id}/resend`, { form: {} })).status).toBe(404);
  });

  it('answer 400 for an id with NUL', async () => {
    for (const path of ['/portal/endpoints/%00', '/portal/deliveries/%00', '/portal/recoveries/%00']) {
      const page = await browser.open(path);
      expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    }
  });

  it('answer 404 for a deleted endpoint', async () => {
    const gone = await makeEndpoint(service, client);
    const form = `/portal/endpoints/${gone.id}/delete`;
    await browser.submit(await browser.open(form), form);
    for (const part of OF_ENDPOINT) {
      expect((await browser.open(`/portal/endpoints/${gone.id}${part}`)).status).toBe(404);
    }
  });

  it('accept no form without the CSRF token of this session and this form', async () => {
    const another = await enterPortal(service, client);
    const tokenAt = async (of: BrowserSession, path: string): Promise<string> =>
      (await of.open(path)).html
        .querySelectorAll('form')
        .find((form) => form.getAttribute('action') === path)!
        .querySelector('input[name=csrf_token]')!
        .getAttribute('value')!;
    const elsewhere = await tokenAt(another, `/portal/endpoints/${endpoint.id}/delete`);
    const forOther = await tokenAt(browser, `/portal/endpoints/${endpoint.id}/rotate`);
    const before = await everything();
    for (const path of forms()) {
      const tokens = [undefined, '', 'x', elsewhere, ...(path.endsWith('/rotate') ? [] : [forOther])];
      for (const csrf_token of tokens) {
        const answer = await browser.open(path, {
          form: { csrf_token, url: 'http://127.0.0.1:9/x', event_types: 'vehicle.updated' },
        });
        expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
          path,
          403,
          'text/html; charset=utf-8',
        ]);
      }
      const own = await tokenAt(browser, `/portal/endpoints/${endpoint.id}/delete`);
      if (path.endsWith('/delete')) {
        const answer = await browser.open(path, {
          form: { csrf_token: own },
          headers: { origin: 'https://evil.example' },
        });
        expect(answer.status).toBe(403);
      }
    }
    expect(await everything()).toBe(before);
  });

  it('accept no body that is not a form', async () => {
    for (const path of forms()) {
      expect((await browser.open(path, { json: { url: 'x' } })).status).toBe(415);
    }
  });

  it('have the security headers of every page, are never cached, and show whose portal it is', async () => {
    for (const path of pages()) {
      const page = await browser.open(path);
      expect([path, page.status, page.headers.get('cache-control')]).toEqual([path, 200, 'no-store']);
      expect(page.headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; " +
          "base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
      );
      expect(page.text).not.toMatch(
        / style=|<style|<script(?! src="\/assets\/(page|portal|live-list)\.js" defer)|javascript:/,
      );
      expect(wordsOf(page)).toContain('Northwind');
      expect(page.html.querySelectorAll('form[action="/portal/logout"]')).toHaveLength(1);
      expect(page.text).not.toContain('whsec_A');
    }
  });

  it('end with the session', async () => {
    const inside = await enterPortal(service, client);
    await inside.submit(await inside.open('/portal/event_types'), '/portal/logout');
    for (const path of pages()) expect((await inside.open(path)).status).toBe(401);
  });
});

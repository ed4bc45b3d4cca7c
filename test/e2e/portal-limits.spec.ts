import {
  PORTAL_RECOVERIES_PER_MINUTE,
  PORTAL_SENDINGS_PER_MINUTE,
  RateLimitsService,
} from '#access/rate-limits/rate-limits.service.js';
import { enterPortal, madeForEach, makeEndpoint, type Page, seedDelivery, wordsOf } from '../support/spec.js';
import { setUpPortal } from '../support/portal-set-up.js';

describe("The limit of a client's actions in its portal", () => {
  const { service, receiver, client, browser } = setUpPortal();
  const endpoint = madeForEach(() => makeEndpoint(service, client, { url: receiver.url() }));

  const limits = () => service.app.get(RateLimitsService);
  const sendings = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await limits().countPortalSending({ id: client.id, environment: 'live' });
  };
  const testPath = () => `/portal/endpoints/${endpoint.id}/test`;
  const test = async (by = browser, path = testPath()): Promise<Page> =>
    by.fillIn(path, { type: 'webhook.test' });
  const recover = async (): Promise<Page> => {
    const path = `/portal/endpoints/${endpoint.id}/recover`;
    await seedDelivery(service, endpoint, { state: 'failed', type: 'webhook.test', isTest: true });
    return browser.fillIn(path);
  };
  const expectRefused = (page: Page, words: string): void => {
    expect([page.status, page.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    const seconds = Number(page.headers.get('retry-after'));
    expect(seconds >= 1 && seconds <= 60).toBe(true);
    expect(wordsOf(page)).toContain(words);
    expect(wordsOf(page)).toContain('try again in 1 minute');
    expect(wordsOf(page)).not.toContain('seconds');
  };

  it('allows as many as a person needs', async () => {
    await sendings(PORTAL_SENDINGS_PER_MINUTE - 1);
    expect((await test()).status).toBe(303);
    expect(receiver.requests).toHaveLength(1);
  });

  it('refuses more than 60 tests and resends a minute, which send and store nothing', async () => {
    await sendings(PORTAL_SENDINGS_PER_MINUTE);
    const id = await seedDelivery(service, endpoint, { state: 'failed', type: 'webhook.test', isTest: true });
    expectRefused(await test(), 'A client can request at most 60 tests and resends per minute.');
    const path = `/portal/deliveries/${id}`;
    expectRefused(await browser.submit(await browser.open(path), `${path}/resend`), '60 tests and resends');
    const rows = await service.database.query('SELECT id, state FROM deliveries WHERE client_id = $1', [
      client.id,
    ]);
    expect(rows).toEqual([{ id, state: 'failed' }]);
    expect(receiver.requests).toEqual([]);
    // Everything else in the portal still works.
    expect((await browser.open('/portal/deliveries')).status).toBe(200);
  });

  it('refuses more than 6 recoveries a minute, which send nothing', async () => {
    for (let n = 0; n < PORTAL_RECOVERIES_PER_MINUTE; n++)
      await limits().countPortalRecovery({ id: client.id, environment: 'live' });
    expectRefused(await recover(), 'A client can request at most 6 recoveries per minute.');
    const recoveries = await service.database.query('SELECT 1 FROM webhook_recoveries WHERE client_id = $1', [
      client.id,
    ]);
    expect([recoveries, receiver.requests]).toEqual([[], []]);
  });

  it('is shared by all browsers of a client, and separate for each client', async () => {
    await sendings(PORTAL_SENDINGS_PER_MINUTE);
    expect((await test(await enterPortal(service, client))).status).toBe(429);
    const other = await service.make.client();
    const { id } = await makeEndpoint(service, other, { url: receiver.url() });
    expect((await test(await enterPortal(service, other), `/portal/endpoints/${id}/test`)).status).toBe(303);
  });

  it('counts only accepted actions: an invalid form costs nothing', async () => {
    await sendings(PORTAL_SENDINGS_PER_MINUTE - 1);
    const form = await browser.open(testPath());
    expect((await browser.submit(form, testPath(), { type: 'nothing.happened' })).status).toBe(400);
    expect((await browser.submit(form, testPath(), { csrf_token: 'x' })).status).toBe(403);
    expect((await test()).status).toBe(303);
    expect((await test()).status).toBe(429);
  });

  it('lets as many concurrent resends through as are left', async () => {
    await sendings(PORTAL_SENDINGS_PER_MINUTE - 6);
    const ids = await Promise.all(
      Array.from({ length: 12 }, () =>
        seedDelivery(service, endpoint, { state: 'failed', type: 'webhook.test', isTest: true }),
      ),
    );
    const pages = await Promise.all(ids.map((id) => browser.open(`/portal/deliveries/${id}`)));
    const answers = await Promise.all(
      pages.map((page, n) => browser.submit(page, `/portal/deliveries/${ids[n]}/resend`)),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(303), count(429)]).toEqual([6, 6]);
  });

  it("counts what it refuses among the client's refused requests", async () => {
    await sendings(PORTAL_SENDINGS_PER_MINUTE);
    await test();
    const operator = await service.make.signedIn(await service.make.user({ role: 'operator' }));
    const page = await operator.open(`/admin/console/clients/${client.id}/refusals`);
    expect(wordsOf(page)).toContain('Too many tests, resends or recoveries');
  });
});

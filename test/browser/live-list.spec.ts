import type { Page } from 'playwright-core';
import { untilHourHasRoom } from '../support/hours.js';
import { madeForEach } from '../support/made.js';
import { enterPortal, makeEndpoint, seedDelivery, type SeededDelivery } from '../support/portal.js';
import { Receiver } from '../support/receiver.js';
import { useSharedService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { copied } from './copied.js';
import { useBrowser } from './use-browser.js';

const TEST: SeededDelivery = { state: 'failed', type: 'webhook.test', isTest: true };

/* Contract §22: live lists, charts with values, resending many, and a request as a command, as people use them. */
describe('in the webhook portal in a browser', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  // One test breaks the connection.
  const browser = useBrowser((complaint) => /status of 401|ERR_FAILED/.test(complaint));
  const receiver = Receiver.setUp();
  const client = madeForEach(() => service.make.client());
  const endpoint = madeForEach(() => makeEndpoint(service, client, { url: receiver.url() }));

  const open = async (path: string, javaScriptEnabled = true): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled });
    if (javaScriptEnabled) await context.clock.install();
    const value = (await enterPortal(service, client)).cookies.get('cds_portal_session')!;
    await context.addCookies([{ name: 'cds_portal_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto(service.url + path);
    return page;
  };
  /** Puts the clock of the page forward, past the next look at the list. */
  const letTimePass = (page: Page) => page.clock.runFor(5000);
  const seed = (input: Partial<SeededDelivery> = {}) =>
    seedDelivery(service, endpoint, { ...TEST, ...input });
  const row = (page: Page, id: string) => page.locator(`[data-key="${id}"]`);
  const status = (page: Page) => page.locator('[data-list-status]');

  it('the list of deliveries takes in what is new, and keeps focus and ticks', async () => {
    const [first, second] = [await seed(), await seed()];
    const page = await open('/portal/deliveries');
    await row(page, first).getByRole('checkbox').check();
    await row(page, second).getByRole('link').focus();
    const third = await seed({ state: 'delivered', attempts: [{ status: 200 }] });
    await service.database.query("UPDATE deliveries SET state = 'delivered' WHERE id IN ($1, $2)", [
      first,
      second,
    ]);
    await letTimePass(page);
    await row(page, third).waitFor();
    for (const id of [first, second]) await row(page, id).getByText('Delivered').waitFor();
    const order = await page
      .locator('[data-key]')
      .evaluateAll((rows) => rows.map((each) => each.dataset.key));
    expect(order).toEqual([third, second, first]);
    expect(await row(page, first).getByRole('checkbox').isChecked()).toBe(true);
    expect(
      await page.evaluate(() => document.activeElement?.closest('[data-key]')?.getAttribute('data-key')),
    ).toBe(second);
    await page.getByRole('button', { name: 'Resend selected' }).click();
    await page.waitForURL('**/portal/recoveries/*');
    await until('the recovery is done', async () => {
      await letTimePass(page);
      return page.getByText('All done').isVisible();
    });
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([first]);
  });

  it('the list asks for nothing while its page is hidden, and stops with the first error, saying so', async () => {
    const page = await open('/portal/deliveries');
    let asked = 0;
    let isBroken = false;
    await page.route('**/portal/deliveries?part=list', (route) => {
      asked++;
      return isBroken ? route.abort() : route.continue();
    });
    const hide = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await hide(true);
    // The list may have asked before it was hidden.
    await page.evaluate(async () => void (await fetch('/portal')));
    asked = 0;
    const id = await seed();
    await letTimePass(page);
    // What the list had asked for would come first.
    await page.evaluate(async () => void (await fetch('/portal')));
    expect(asked).toBe(0);
    await hide(false);
    await row(page, id).waitFor();
    isBroken = true;
    await letTimePass(page);
    await status(page).getByText('no longer updated').waitFor();
    const before = asked;
    await hide(true);
    await hide(false);
    await letTimePass(page);
    // What the list had asked for would come first.
    await page.evaluate(async () => void (await fetch('/portal')));
    expect(asked).toBe(before);
    await page.getByRole('link', { name: 'Refresh' }).click();
    await status(page).getByText('by themselves').waitFor();
  });

  it('without a script, the list has a link that refreshes it', async () => {
    const page = await open('/portal/deliveries?state=failed', false);
    const id = await seed();
    await page.getByRole('link', { name: 'Refresh' }).click();
    await row(page, id).waitFor();
    expect(page.url()).toContain('state=failed');
    await row(page, id).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Resend selected' }).click();
    await page.getByText('All done').waitFor();
  });

  it.each([true, false])(
    'a chart shows values under the pointer and at the focus, and its bars filter (script: %s)',
    async (script) => {
      await untilHourHasRoom();
      await service.database.query(
        `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
       VALUES ($1, date_trunc('hour', now(), 'UTC'), 3, 1, 400, 250)`,
        [endpoint.id],
      );
      const id = await seed();
      const page = await open(`/portal/endpoints/${endpoint.id}`, script);
      const words = (chart: number) =>
        page
          .locator('svg.plot')
          .nth(chart)
          .locator('.band-words')
          .filter({ visible: true })
          .allTextContents();
      expect([await words(0), await words(1)]).toEqual([[], []]);
      await page.locator('svg.plot').first().locator('.band-area').last().hover({ force: true });
      expect(await words(0)).toEqual([expect.stringContaining(': 3 delivered, 1 failed')]);
      await page.locator('svg.plot').nth(1).locator('.band[tabindex]').focus();
      expect(await words(1)).toEqual([expect.stringContaining(': 250 ms slowest, 100 ms average')]);
      const bar = page.getByRole('link', { name: /1 failed\. Show/ });
      await bar.focus();
      expect(await words(0)).toHaveLength(1);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/portal/deliveries?state=failed&*');
      await row(page, id).waitFor();
    },
  );

  it('a request is copied as a command', async () => {
    const id = await seed({ attempts: [{ status: 500 }] });
    const page = await open(`/portal/deliveries/${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
    const command = await copied(page, page.getByRole('button', { name: 'Copy as curl' }).last());
    expect(command).toContain(`-H 'webhook-id: ${id}'`);
  });
});

import type { Page } from 'playwright-core';
import { untilHourHasRoom } from '../support/hours.js';
import { makeEndpoint, seedDelivery } from '../support/portal.js';
import { useService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { signIn } from './every-page.js';
import { useBrowser } from './use-browser.js';

/** Without scripts, live-list.spec.ts shows it of the same charts in the portal. */
const WITH_SCRIPTS = process.env.NIGHTLY ? [true, false] : [true];

/* As the charts of the portal do (contract §22). */
describe('The charts of the console’s front page', () => {
  const service = useService({ env: WEBHOOK_ENV });
  const browser = useBrowser();
  let failed: string;

  // Anew for each test, because an hour may have passed since the one before.
  beforeEach(async () => {
    await untilHourHasRoom();
    const endpoint = await makeEndpoint(service, await service.make.client(), {});
    await service.database.query('DELETE FROM webhook_endpoint_hours');
    failed = await seedDelivery(service, endpoint, { state: 'failed' });
    await service.database.query(
      `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
       SELECT $1, date_trunc('hour', now(), 'UTC') - make_interval(hours => n), 1000, CASE n WHEN 0 THEN 2 ELSE 0 END, 400, 250
         FROM generate_series(0, 1) n`,
      [endpoint.id],
    );
    await service.database.query("DELETE FROM activity_hours WHERE kind = 'sign_in_refused'");
    await service.database.query(
      `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
       VALUES ('all', date_trunc('hour', now(), 'UTC'), 'sign_in_refused', 'x', 7, now())`,
    );
  });

  const open = async (javaScriptEnabled: boolean): Promise<Page> => {
    const page = await browser.newPage({ javaScriptEnabled });
    await signIn(service, page, await service.make.user({ role: 'operator' }));
    await page.goto(`${service.url}/admin/console`);
    return page;
  };
  const chart = (page: Page, tile: string) =>
    page.getByRole('region', { name: tile, exact: true }).locator('.plot');
  const words = (page: Page, tile: string) =>
    chart(page, tile).locator('.band-words').filter({ visible: true }).allTextContents();

  it.each(WITH_SCRIPTS)('show values under the pointer and at the focus (script: %s)', async (script) => {
    const page = await open(script);
    const delivered = 'Successful deliveries';
    expect(await words(page, delivered)).toEqual([]);
    await chart(page, delivered).locator('.band').last().hover();
    const hour = /^\d+ \w{3,4}, \d\d:00 UTC: 1,000, 0 the day before$/;
    expect(await words(page, delivered)).toEqual([expect.stringMatching(hour)]);
    // Without a list to lead to, the periods themselves can have the focus.
    await chart(page, 'Failed logins').locator('.band[tabindex]').last().focus();
    expect(await words(page, 'Failed logins')).toEqual([expect.stringMatching(/: 7, 0 the day before$/)]);
    expect(await chart(page, delivered).locator('[tabindex]').count()).toBe(0);
    await page.getByRole('link', { name: '7 days' }).click();
    await chart(page, delivered).getByRole('link').last().focus();
    expect(await words(page, delivered)).toEqual([
      expect.stringMatching(/^24 hours from .* UTC: 2,000, 0 the week before$/),
    ]);
  });

  it.each(WITH_SCRIPTS)('lead to the deliveries of their time (script: %s)', async (script) => {
    const page = await open(script);
    await chart(page, 'Failed delivery attempts').getByRole('link').click();
    await page.waitForURL('**/admin/console/deliveries?state=failed&from=*&to=*');
    expect(await page.getByLabel('From (UTC)').inputValue()).toMatch(/T\d\d:00$/);
    expect(await page.locator(`a[href="/admin/console/deliveries/${failed}"]`).count()).toBe(1);
    await page.goBack();
    await page.getByText('Last 24 hours in numbers').click();
    await page.getByRole('row').nth(2).getByRole('link', { name: '1,000' }).click();
    await page.waitForURL('**/admin/console/deliveries?state=delivered&*');
    expect(await page.locator(`a[href="/admin/console/deliveries/${failed}"]`).count()).toBe(0);
  });
});

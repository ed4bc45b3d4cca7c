import type { Browser, Page } from 'playwright-core';
import { PASSWORD } from '../support/factory.js';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';
import { portalLink } from './every-page.js';

/** The axe checks of these pages are in console-pages.ts and portal-pages.ts. */
describe('the catalogue of event types in a browser, without a script', () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    service = await startService();
    browser = await launchChromium();
    page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const follow = (name: string) => page.getByRole('link', { name, exact: true }).first().click();
  const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
  const said = () => page.getByRole('status').innerText();

  it('an operator creates a type and its version, and a partner sees them in the portal', async () => {
    const operator = await service.make.user({ role: 'operator' });
    await page.goto(`${service.url}/admin/console/event-types`);
    await page.getByLabel('Email').fill(operator.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press('Log in');
    await follow('Create event type');
    await fill('Name', 'vehicle.moved');
    await fill('Description', 'The vehicle was driven.');
    await page.getByLabel('Scope').selectOption('vehicle:read');
    await fill('Sample', 'not JSON');
    await press('Save');
    expect(await page.locator('#sample-error').innerText()).toContain('nter a JSON object');
    await fill('Sample', '{"id": "v1", "km": 12}');
    await press('Save');
    expect(await said()).toBe('Event type saved.');
    expect(await page.getByText('No versions yet').count()).toBe(1);

    await follow('Create version');
    await fill('Schema', '{"type": "object", "required": ["metres"]}');
    await press('Save');
    expect(await page.locator('#schema-error').innerText()).toContain('sample.metres is required');
    await fill('Schema', '{"type": "object", "required": ["km"], "properties": {"km": {"type": "number"}}}');
    await press('Save');
    expect(await said()).toBe('Version saved.');
    expect(await page.locator('.entry-head').innerText()).toContain('Version 1');

    const owner = await service.make.user({ kind: 'organisation' });
    const client = await service.make.client({ ownerId: owner.id });
    await page.goto(await portalLink(service, { client, owner, driver: owner }));
    await press('Open webhook portal');
    await page.goto(`${service.url}/portal/event_types`);
    const entry = page.locator('[id="vehicle.moved"]');
    await entry.getByText('Schema').click();
    expect(await entry.innerText()).toContain('"km"');
  });
});

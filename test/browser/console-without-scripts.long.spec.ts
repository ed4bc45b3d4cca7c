import { consoleWays, furtherConsoleWays, useConsole } from './console-ways.js';
import { portalLink } from './every-page.js';
import { followFirst, press, said } from './page-actions.js';

describe('in the console in a browser', () => {
  const atConsole = useConsole();
  const { service, operator, client, newPage } = atConsole;

  describe('with JavaScript switched off', () => {
    consoleWays(atConsole, false);
    if (process.env.NIGHTLY) furtherConsoleWays(atConsole, false);
  });

  describe('with JavaScript', () => furtherConsoleWays(atConsole, true));

  /* The axe checks of these pages are in console-pages.ts and portal-pages.ts. */
  it('an operator creates an event type and its version, and a partner sees them in the portal', async () => {
    const page = await newPage(false);
    const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
    await followFirst(page, 'Event types');
    await followFirst(page, 'Create event type');
    await fill('Name', 'vehicle.moved');
    await fill('Description', 'The vehicle was driven.');
    await page.getByLabel('Scope').selectOption('vehicle:read');
    await fill('Sample', 'not JSON');
    await press(page, 'Save');
    expect(await page.locator('#sample-error').innerText()).toContain('nter a JSON object');
    await fill('Sample', '{"id": "v1", "km": 12}');
    await press(page, 'Save');
    expect(await said(page)).toBe('Event type saved.');
    expect(await page.getByText('No versions yet').count()).toBe(1);

    await followFirst(page, 'Create version');
    await fill('Schema', '{"type": "object", "required": ["metres"]}');
    await press(page, 'Save');
    expect(await page.locator('#schema-error').innerText()).toContain('sample.metres is required');
    await fill('Schema', '{"type": "object", "required": ["km"], "properties": {"km": {"type": "number"}}}');
    await press(page, 'Save');
    expect(await said(page)).toBe('Version saved.');
    expect(await page.locator('.entry-head').innerText()).toContain('Version 1');

    await page.goto(await portalLink(service, { client, owner: operator, driver: operator }));
    await press(page, 'Open webhook portal');
    await page.goto(`${service.url}/portal/event_types`);
    const entry = page.locator('[id="vehicle.moved"]');
    await entry.locator('summary').first().click();
    await entry.getByText('Schema').click();
    expect(await entry.innerText()).toContain('"km"');
  });
});

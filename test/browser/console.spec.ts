import type { Page } from 'playwright-core';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { madeForEach } from '../support/made.js';
import { isAccepted } from '../support/oauth.js';
import { useService } from '../support/test-service.js';
import { copied } from './copied.js';
import { portalLink } from './every-page.js';
import { followFirst, headingOf, logIn, press, said, WITH_AND_WITHOUT_SCRIPTS } from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

describe('in the console in a browser', () => {
  // Its own: one test adds to the event types, which the API description lists.
  const service = useService();
  const browser = useBrowser(answersWith(400, 404));
  const operator = madeForEach(() => service.make.user({ name: 'Olga Operator', role: 'operator' }));
  const client = madeForEach(() => service.make.client({ name: `Voltwise ${operator.id.slice(-4)}` }));

  const factOf = (page: Page, name: string): Promise<string> =>
    page.locator('.facts > div').filter({ hasText: name }).locator('dd').first().innerText();
  const secretOn = (page: Page): Promise<string> => page.locator('code.secret').innerText();
  /** A page in a new browser, signed in on the way to the console. */
  const newPage = async (javaScriptEnabled: boolean, viewport = DESKTOP): Promise<Page> => {
    const page = await browser.newPage({ javaScriptEnabled, viewport });
    await page.goto(`${service.url}/admin/console`);
    await logIn(page, operator);
    await page.waitForURL(`${service.url}/admin/console`);
    return page;
  };
  const tokenFor = (id: string, secret: string) =>
    service.http.token({ grant_type: 'client_credentials' }, { id, secret });
  const findClient = async (page: Page): Promise<void> => {
    await followFirst(page, 'Clients');
    await page.getByLabel('Part of the name').fill(client.name.slice(2));
    await press(page, 'Search');
    await followFirst(page, client.name);
  };

  describe.each(WITH_AND_WITHOUT_SCRIPTS)('%s', (_what, javaScript) => {
    it('an operator first makes a mistake, then registers a client, and gets a working secret', async () => {
      const owner = await service.make.user({ kind: 'organisation' });
      const page = await newPage(javaScript);
      await followFirst(page, 'Clients');
      await followFirst(page, 'Create client');
      await page.getByLabel('Name', { exact: true }).fill('Northwind');
      await page.getByLabel('Owner').fill(owner.email);
      await page.getByLabel('charging_session:read').check();
      await page.getByLabel('It acts on its own behalf').check();
      await page.getByLabel('Redirect URIs').fill('http://app.example/callback');
      await press(page, 'Create client');
      expect(await page.getByRole('alert').innerText()).toContain('Nothing was changed');
      expect(await page.getByLabel('Redirect URIs').getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByLabel('charging_session:read').isChecked()).toBe(true);
      await page.getByLabel('Redirect URIs').fill(REDIRECT_URI);
      await press(page, 'Create client');
      expect(await headingOf(page)).toBe('Client created');
      const [id, secret] = [await factOf(page, 'Client ID'), await secretOn(page)];
      expect((await tokenFor(id, secret)).status).toBe(200);
      await followFirst(page, 'I have copied it');
      expect(await headingOf(page)).toBe('Northwind');
      expect(await page.content()).not.toContain(secret);
    });

    it('an operator rotates a secret, and both are valid for a while', async () => {
      const page = await newPage(javaScript);
      await findClient(page);
      await followFirst(page, 'Rotate secret');
      expect(await page.getByLabel('One day').isChecked()).toBe(true);
      await page.getByLabel('One hour').check();
      await press(page, 'Create new secret');
      const secret = await secretOn(page);
      expect(await factOf(page, 'Previous secrets')).toContain('valid until');
      for (const each of [secret, client.secret]) expect((await tokenFor(client.id, each)).status).toBe(200);
    });

    it('an operator finds out why a partner gets 401', async () => {
      expect((await tokenFor(client.id, 'x'.repeat(43))).status).toBe(401);
      const page = await newPage(javaScript);
      await findClient(page);
      await followFirst(page, 'Refusals');
      const row = page.getByRole('row').filter({ hasText: 'Wrong secret' });
      expect(await row.innerText()).toContain('401 invalid_client');
      expect(await row.innerText()).toContain('rotate the secret');
      expect(await row.innerText()).toContain('127.0.0.1');
    });

    it('an operator disconnects an application from a user on request', async () => {
      const user = await service.make.user({ name: 'Dana Driver' });
      const tokens = await service.make.tokens(client, user);
      const page = await newPage(javaScript);
      await followFirst(page, 'Users');
      await page.getByLabel('Part of the name').fill(user.email);
      await press(page, 'Search');
      await followFirst(page, 'Dana Driver');
      await followFirst(page, 'Connected clients');
      await followFirst(page, `Disconnect ${client.name}`);
      expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
      await press(page, 'Disconnect');
      expect(await said(page)).toBe('Client disconnected from this user.');
      expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
      expect(await page.getByRole('main').innerText()).toContain('shares no data with any client');
    });

    it('an operator enters the password again before deleting a client, and returns to that page', async () => {
      const page = await newPage(javaScript);
      await service.database.query(
        "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
        [operator.id],
      );
      await findClient(page);
      await followFirst(page, 'Delete');
      expect(await headingOf(page)).toBe('Confirm your password');
      await page.getByLabel('Password').fill('wrong horse battery staple');
      await press(page, 'Continue');
      expect(await page.getByRole('main').innerText()).toContain('This is not your password.');
      await page.getByLabel('Password').fill(PASSWORD);
      await press(page, 'Continue');
      expect(await headingOf(page)).toBe('Delete client');
      await press(page, 'Delete client');
      expect(await said(page)).toBe('Client deleted.');
      await followFirst(page, 'Audit log');
      await page.getByLabel('Subject').fill(client.id);
      await press(page, 'Filter');
      expect(await page.getByRole('table').innerText()).toContain('client.deleted');
    });
  });

  describe.each(WITH_AND_WITHOUT_SCRIPTS)('on a phone, %s,', (_what, javaScript) => {
    it('an operator unfolds the filter, and opens a client by the second line of its row', async () => {
      const page = await newPage(javaScript, PHONE);
      await page.goto(`${service.url}/admin/console/clients`);
      const field = page.getByLabel('Part of the name');
      expect(await field.isVisible()).toBe(false);
      await page.locator('.filter > summary').click();
      await field.fill(client.name);
      await press(page, 'Search');
      expect(await page.locator('.filter > summary').innerText()).toContain(client.name);
      expect(await field.isVisible()).toBe(false);
      const row = page.getByRole('row').filter({ hasText: client.name });
      const { width, height } = (await row.boundingBox())!;
      await row.click({ position: { x: width - 5, y: height - 5 } });
      await page.waitForURL(`**/clients/${client.id}`);
    });

    it('an operator unfolds what was changed, and folds it up again, with the keyboard, too', async () => {
      await service.make.updateClient(client, { name: `${client.name} renamed` });
      const page = await newPage(javaScript, PHONE);
      await page.goto(`${service.url}/admin/console/audit?subject=${client.id}&action=client.updated`);
      const row = page.getByRole('row').filter({ hasText: 'client.updated' });
      const change = row.locator('.changes .is', { hasText: `${client.name} renamed` });
      expect(await change.isVisible()).toBe(false);
      const { width, height } = (await row.boundingBox())!;
      expect(height).toBeLessThan(70);
      await row.click({ position: { x: width / 2, y: 10 } });
      expect(await change.isVisible()).toBe(true);
      await row.locator('.unfold summary').press('Enter');
      expect(await change.isVisible()).toBe(false);
    });
  });

  it('a group of the side bar stays folded up, and says what waits in it; its own page unfolds it', async () => {
    const page = await newPage(true);
    const link = page.getByRole('link', { name: 'Mails', exact: true });
    await page.getByText('Messages', { exact: true }).click();
    expect(await link.isVisible()).toBe(false);
    await followFirst(page, 'Clients');
    await page.waitForURL('**/clients');
    expect(await link.isVisible()).toBe(false);
    await followFirst(page, 'Audit log');
    await page.goto(`${service.url}/admin/console/notifications`);
    expect(await link.isVisible()).toBe(true);
  });

  it('an id in a list is copied by the button beside it', async () => {
    const page = await newPage(true);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
    await page.goto(`${service.url}/admin/console/clients?q=${encodeURIComponent(client.name)}`);
    const button = page.getByRole('button', { name: `Copy ${client.id}` });
    await button.click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(client.id);
  });

  it('recent times in a list are relative where scripts run, and keep their room; older ones, those of the audit log, and all if UTC was chosen, are exact', async () => {
    await service.database.query(
      `UPDATE clients SET created_at = now() - CASE id WHEN $1 THEN interval '3 hours' ELSE interval '8 days' END`,
      [client.id],
    );
    const old = await service.make.client();
    await service.database.query("UPDATE clients SET created_at = now() - interval '8 days' WHERE id = $1", [
      old.id,
    ]);
    const timesOn = async (
      page: Page,
      path: string,
    ): Promise<{ text: string; title: string; height: number }[]> => {
      await page.goto(`${service.url}/admin/console${path}`);
      return page.locator('main tbody time').evaluateAll((times) =>
        times.map((time) => ({
          text: time.textContent,
          title: (time as HTMLElement).title,
          height: time.closest('tr')!.getBoundingClientRect().height,
        })),
      );
    };
    const EXACT = /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d \S+$/;
    const page = await newPage(true);
    const plain = await newPage(false);
    const path = (of: TestClient) => `/clients?q=${of.id}`;
    const [[recent], [aged], [without], [event]] = [
      await timesOn(page, path(client)),
      await timesOn(page, path(old)),
      await timesOn(plain, path(client)),
      await timesOn(page, '/audit'),
    ];
    expect(recent).toMatchObject({ text: '3 hours ago', title: expect.stringMatching(/\d\d:\d\d:\d\d/) });
    for (const exact of [aged, without, event]) expect(exact!.text).toMatch(EXACT);
    expect(recent!.height).toBe(without!.height);
    await page.context().addCookies([{ name: 'times', value: 'utc', url: service.url }]);
    expect((await timesOn(page, path(client)))[0]!.text).toMatch(EXACT);
  });

  it('a secret shown once is copied by its button; a double click creates only one, and a reload creates no other', async () => {
    const page = await newPage(true);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
    await findClient(page);
    await followFirst(page, 'Rotate secret');
    // The answer to the first click comes after the second.
    let answer!: () => void;
    const isClickedTwice = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/secret', (route) => isClickedTwice.then(() => route.continue()));
    await page.getByRole('button', { name: 'Create new secret' }).dblclick();
    answer();
    await page.waitForURL('**/secret/shown');
    const secret = await secretOn(page);
    expect(await copied(page, page.getByRole('button', { name: 'Copy', exact: true }))).toBe(secret);
    await page.reload();
    expect(await page.getByRole('alert').innerText()).toContain('was already shown');
    await page.goBack();
    const [{ n }] = (await service.database.query(
      'SELECT count(*)::int AS n FROM client_secrets WHERE client_id = $1',
      [client.id],
    )) as [{ n: number }];
    expect(n).toBe(2);
    expect((await tokenFor(client.id, secret)).status).toBe(200);
  });

  it('a secret shown once can be selected as a whole without a script', async () => {
    const page = await newPage(false);
    await findClient(page);
    await followFirst(page, 'Rotate secret');
    await press(page, 'Create new secret');
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.locator('code.secret').click();
    expect(await page.locator('code.secret').evaluate((code) => getComputedStyle(code).userSelect)).toBe(
      'all',
    );
  });

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
    await entry.getByText('Schema').click();
    expect(await entry.innerText()).toContain('"km"');
  });

  it('an operator can do everything with the keyboard only, and every focus is visible', async () => {
    const page = await newPage(true);
    const tabTo = async (name: string): Promise<void> => {
      for (let stop = 0; stop < 40; stop++) {
        await page.keyboard.press('Tab');
        const now = await page.evaluate(() => {
          const element = document.activeElement as HTMLInputElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(element);
          const label = element.labels?.[0]?.textContent ?? element.textContent;
          return { label, outlined: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
        });
        expect(now).toMatchObject({ outlined: true });
        if (now.label.includes(name)) return;
      }
      throw new Error(`no stop at ${name}`);
    };
    await tabTo('Clients');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/clients');
    await tabTo('Part of the name');
    await page.keyboard.type(client.name);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/clients?q=*');
    await tabTo(client.name);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/clients/${client.id}`);
    await tabTo('Rotate secret');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/secret');
    await tabTo('One day');
    await page.keyboard.press('ArrowUp');
    await tabTo('Create new secret');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New secret' }).waitFor();
    const secret = await secretOn(page);
    expect((await tokenFor(client.id, secret)).status).toBe(200);
  });
});

import type { Page } from 'playwright-core';
import type { TestClient } from '../support/factory.js';
import { copied } from './copied.js';
import { consoleWays, secretOn, useConsole } from './console-ways.js';
import { followFirst, press } from './page-actions.js';

/* Without scripts, and further ways: console-without-scripts.long.spec.ts. */
describe('in the console in a browser', () => {
  const atConsole = useConsole();
  const { service, client, newPage, findClient, tokenFor } = atConsole;

  describe('with JavaScript', () => consoleWays(atConsole, true));

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
    expect(await copied(page, button)).toBe(client.id);
  });

  it('recent times in a list are relative where scripts run, and keep their room; older ones, and all if UTC was chosen, are exact', async () => {
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
    const EXACT = /^\d+ \w+ \d{4}, \d\d:\d\d \S+$/;
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
    for (const exact of [aged, without]) expect(exact!.text).toMatch(EXACT);
    expect(event!.text).toMatch(/ ago$/);
    expect(recent!.height).toBe(without!.height);
    await service.database.query(
      "UPDATE client_secrets SET expires_at = now() + interval '6 days 23 hours 50 minutes' WHERE client_id = $1",
      [client.id],
    );
    const texts = (await timesOn(page, `/clients/${client.id}`)).map(({ text }) => text);
    expect(texts).toContain('in 7 days');
    await page.context().addCookies([{ name: 'cds_times', value: 'utc', url: service.url }]);
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

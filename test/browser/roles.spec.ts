import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { PASSWORD, type TestClient } from '../support/factory.js';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';

describe('in the console in a browser, by role', () => {
  let service: TestService;
  let browser: Browser;
  let client: TestClient;
  let driver: UserEntity;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    service = await startService({ env: { FOUR_EYES: 'true' } });
    browser = await launchChromium();
    client = await service.make.client({ name: 'Voltwise' });
  });
  beforeEach(async () => {
    driver = await service.make.user({ name: 'Dana Driver' });
    await service.make.consent(client, driver);
  });
  afterEach(async () => {
    for (const each of contexts.splice(0)) await each.close();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click();
  const headingOf = (page: Page) => page.getByRole('heading', { level: 1 }).innerText();
  const said = (page: Page) => page.getByRole('status').innerText();
  /** The names of the buttons and of the links that look like one. */
  const actionsOn = (page: Page) =>
    page.locator('.buttons button, .buttons a, .page-actions a').allInnerTexts();
  const logIn = async (user: UserEntity): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${service.url}/admin/console`);
    await page.getByLabel('Email').fill(user.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Log in');
    return page;
  };
  const findUser = async (page: Page): Promise<void> => {
    await follow(page, 'Users');
    await page.getByLabel('Part of the name').fill(driver.id);
    await press(page, 'Search');
    await follow(page, 'Dana Driver');
  };

  it('support helps a user, and neither sees nor opens what is for admins', async () => {
    const page = await logIn(await service.make.user({ role: 'operator', operatorRole: 'support' }));
    expect(await headingOf(page)).toBe('Overview');
    await findUser(page);
    expect(await actionsOn(page)).toEqual([
      'Edit',
      'Create password link',
      'Create notification',
      'Disable',
      'Revoke all tokens',
    ]);
    await follow(page, 'Edit');
    await page.getByLabel('Name').fill('Dana Rider');
    await press(page, 'Save');
    expect(await headingOf(page)).toBe('Dana Rider');
    await follow(page, 'Disable');
    await press(page, 'Disable user');
    expect(await said(page)).toContain('User disabled.');
    await press(page, 'Enable');
    await follow(page, 'Connected clients');
    await page.getByRole('link', { name: 'Disconnect Voltwise' }).click();
    await press(page, 'Disconnect');
    expect(await said(page)).toContain('Client disconnected');
    await follow(page, 'Clients');
    await follow(page, 'Voltwise');
    expect(await actionsOn(page)).toEqual(['Revoke all tokens']);
    await page.goto(`${service.url}/admin/console/clients/${client.id}/delete`);
    expect(await page.getByRole('main').innerText()).toContain(
      'This requires the role admin. Your role is support',
    );
  });

  it('a viewer reads, and a second admin approves what the first asked for', async () => {
    const viewer = await logIn(await service.make.user({ role: 'operator', operatorRole: 'viewer' }));
    await findUser(viewer);
    expect(await actionsOn(viewer)).toEqual([]);
    expect(await viewer.getByRole('heading', { level: 2 }).count()).toBe(0);

    const first = await logIn(await service.make.user({ role: 'operator' }));
    await findUser(first);
    await follow(first, 'Erase');
    await press(first, 'Erase user');
    expect(await said(first)).toContain('Nothing is done yet');
    expect(await actionsOn(first)).toEqual(['Reject']);

    const approving = await service.make.user({ role: 'operator' });
    const second = await logIn(approving);
    await follow(second, 'View approvals');
    await follow(second, 'Erase user');
    // With a password alone nobody approves.
    expect(await actionsOn(second)).toEqual(['Reject']);
    expect(await second.getByRole('main').innerText()).toContain('in which you gave a second factor');
    await service.database.query('UPDATE sessions SET second_factor = true WHERE user_id = $1', [
      approving.id,
    ]);
    await second.reload();
    await press(second, 'Approve');
    expect(await said(second)).toBe('Approved and carried out.');
    await second.goto(`${service.url}/admin/console/users/${driver.id}`);
    expect(await second.getByRole('main').innerText()).toContain('There is no user');
  });
});

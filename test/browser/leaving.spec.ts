import { readFile } from 'node:fs/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { AccountDeletionsService } from '../../src/users/leaving/account-deletions.service.js';
import { PASSWORD } from '../support/factory.js';
import { MailServer } from '../support/mail-server.js';
import { startService, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { launchChromium } from './chromium.js';

describe('Leaving, in a browser without scripts:', () => {
  let service: TestService;
  let smtp: MailServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    smtp = await MailServer.start();
    service = await startService({ env: smtp.env });
    browser = await launchChromium();
  });
  beforeEach(async () => {
    context = await browser.newContext({ javaScriptEnabled: false, acceptDownloads: true });
    page = await context.newPage();
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await smtp.stop();
  });

  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const follow = (name: string): Promise<void> => page.getByRole('link', { name, exact: true }).click();
  const mailTo = async (email: string, title: string) => {
    const found = () => smtp.to(email).find(({ subject }) => subject === title);
    await until(`“${title}” has arrived`, () => found() !== undefined);
    return found()!;
  };

  it('a driver takes the data along, asks for the deletion, keeps the account, asks again, and is gone', async () => {
    const client = await service.make.client({ name: 'Northwind Smart Charging' });
    const user = await service.make.user({ name: 'Dana Driver', emailVerified: true });
    const { email } = user;
    await service.make.tokens(client, user);
    await page.goto(`${service.url}/account`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press('Log in');

    // The data, after the login of some time ago is confirmed.
    await service.make.ageSessions(user);
    await follow('Download my data');
    await page.getByLabel('Password').fill(PASSWORD);
    await press('Continue');
    await press('Send link');
    await page.getByRole('status').getByText('We sent you a link').waitFor();
    const { link } = await mailTo(email, 'Your data is ready');
    await page.goto(link);
    await page.getByRole('heading', { level: 2, name: 'Your account', exact: true }).waitFor();
    await page.getByText('Northwind Smart Charging').first().waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), press('Download as a file')]);
    expect(download.suggestedFilename()).toMatch(/^my-data-\d{4}-\d\d-\d\d\.json$/);
    const file = JSON.parse(await readFile(await download.path(), 'utf8')) as { user_id: string };
    expect(file.user_id).toBe(user.id);
    await page.goto(link);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('This link no longer works');

    // Away, and back.
    const leave = async (): Promise<void> => {
      await page.goto(`${service.url}/account`);
      await follow('Delete account');
      await page.getByText('Northwind Smart Charging').waitFor();
      await page.getByLabel('Your email address').fill(email);
      await press('Delete account');
      await page.getByText('Your account will be deleted on').waitFor();
    };
    await leave();
    await mailTo(email, 'Your account will be deleted');
    await follow('Applications');
    await press('Keep my account');
    await page.getByRole('status').getByText('Your account stays').waitFor();
    await mailTo(email, 'Your account stays');

    // And away.
    await leave();
    await service.database.query("UPDATE account_deletions SET due_at = now() - interval '1 second'");
    expect(await service.app.get(AccountDeletionsService).eraseDue()).toBe(1);
    await mailTo(email, 'Your account was deleted');
    await page.goto(`${service.url}/account`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press('Log in');
    await page.getByRole('alert').waitFor();
  });
});

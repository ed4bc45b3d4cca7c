import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import {
  AccountDeletionsService,
  AccountDeletionsWorker,
} from '#access/users/closing/account-deletions.service.js';
import { PASSWORD } from '../support/factory.js';
import { useServiceWithMail } from '../support/set-up.js';
import { until } from '../support/until.js';
import { follow, headingOf, logIn, press } from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';

describe('Leaving, in a browser without scripts:', () => {
  const { service, smtp } = useServiceWithMail();
  const browser = useBrowser(answersWith(400, 401, 410));
  let page: Page;
  beforeEach(async () => {
    page = await browser.newPage({ javaScriptEnabled: false, acceptDownloads: true });
  });

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
    await logIn(page, user);

    // The data, after the login of some time ago is confirmed.
    await service.make.ageSessions(user);
    await follow(page, 'Download my data');
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Continue');
    await press(page, 'Send link');
    await page.getByRole('status').getByText('We sent you a link').waitFor();
    const { link } = await mailTo(email, 'Your data is ready');
    await page.goto(link);
    await page.getByRole('heading', { level: 2, name: 'Your account', exact: true }).waitFor();
    const section = page.locator('details', { hasText: 'Northwind Smart Charging' }).first();
    await section.locator('summary').first().click();
    await section.getByText('Northwind Smart Charging').first().waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download as a file')]);
    expect(download.suggestedFilename()).toMatch(/^my-data-\d{4}-\d\d-\d\d\.json$/);
    const file = JSON.parse(await readFile(await download.path(), 'utf8')) as { user_id: string };
    expect(file.user_id).toBe(user.id);
    await page.goto(link);
    expect(await headingOf(page)).toBe('This link no longer works');

    // Away, and back.
    const leave = async (): Promise<void> => {
      await page.goto(`${service.url}/account`);
      await follow(page, 'Delete account');
      await page.getByText('Northwind Smart Charging').waitFor();
      await page.getByLabel('Your email address').fill(email);
      await press(page, 'Delete account');
      await page.getByText('Your account will be deleted on').waitFor();
    };
    await leave();
    await mailTo(email, 'Your account will be deleted');
    await follow(page, 'Sharing');
    await press(page, 'Keep my account');
    await page.getByRole('status').getByText('Your account stays').waitFor();
    await mailTo(email, 'Your account stays');

    // And away.
    await leave();
    // Every minute it would do itself what is done here.
    await service.app.get(AccountDeletionsWorker).beforeApplicationShutdown();
    await service.database.query("UPDATE account_deletions SET due_at = now() - interval '1 second'");
    expect(await service.app.get(AccountDeletionsService).eraseDue()).toBe(1);
    await mailTo(email, 'Your account was deleted');
    await page.goto(`${service.url}/account`);
    await logIn(page, user);
    await page.getByRole('alert').waitFor();
  });
});

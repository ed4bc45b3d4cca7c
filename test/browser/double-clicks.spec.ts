import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { authorizePath } from '../support/browser-session.js';
import { REDIRECT_URI } from '../support/factory.js';
import { setUpApp } from '../support/factors-without-pages.js';
import { exchange } from '../support/oauth.js';
import { codeOf } from '../support/second-factors.js';
import { PATIENT, useSharedService } from '../support/test-service.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { headingIs, logIn } from './page-actions.js';
import { useBrowser } from './use-browser.js';

describe('A double click, of which the second breaks off the first,', () => {
  const service = useSharedService({ databaseOptions: PATIENT });
  // The application itself is not there.
  const browser = useBrowser((_complaint, url) => url.startsWith(REDIRECT_URI));

  /** Clicks twice, while what the first click asks for waits for these rows. */
  async function doubleClick(page: Page, name: string, rows: string, id: string): Promise<void> {
    const holding = new Client({ connectionString: service.database.url });
    await holding.connect();
    try {
      await holding.query('BEGIN');
      await holding.query(`SELECT FROM ${rows} FOR UPDATE`, [id]);
      const button = page.getByRole('button', { name, exact: true });
      const { x, y, width, height } = (await button.boundingBox())!;
      const click = async (): Promise<void> => {
        const posted = page.waitForRequest((request) => request.method() === 'POST');
        await page.mouse.click(x + width / 2, y + height / 2);
        await posted;
      };
      await click();
      await untilWaitingForLocks(service.database, 1);
      await click();
      await holding.query('COMMIT');
    } finally {
      await holding.end();
    }
  }

  it('opens the portal by its link', async () => {
    const client = await service.make.client({ name: 'Northwind' });
    const bearer = await service.make.clientToken(client);
    const { url } = (await service.http.get('/webhook_portal', { bearer })).json as { url: string };
    const page = await browser.newPage();
    await page.goto(url);
    await doubleClick(page, 'Open webhook portal', 'portal_links WHERE client_id = $1', client.id);
    await headingIs(page, 'Overview');
    await page.reload();
    await headingIs(page, 'Overview');
  });

  it('logs in with a second factor, and gives the application a code that works', async () => {
    const [user, client] = [await service.make.user(), await service.make.client()];
    const { secret } = await setUpApp(service, await service.make.signedIn(user));
    const page = await browser.newPage();
    const parameters = {
      response_type: 'code',
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
      state: 'a state',
    };
    await page.goto(`${service.url}${authorizePath(parameters)}`);
    await logIn(page, user);
    await headingIs(page, 'One more step');
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
    await doubleClick(page, 'Continue', 'authenticator_apps WHERE user_id = $1', user.id);
    await page.getByRole('button', { name: 'Authorize', exact: true }).waitFor();
    const back = page.waitForRequest((request) => request.url().startsWith(REDIRECT_URI));
    await doubleClick(page, 'Authorize', 'clients WHERE id = $1', client.id);
    const answer = new URL((await back).url()).searchParams;
    expect(answer.get('state')).toBe('a state');
    expect((await exchange(service.http, client, answer.get('code')!)).status).toBe(200);
  });
});

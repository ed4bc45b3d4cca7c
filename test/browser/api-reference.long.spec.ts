import type { Page } from 'playwright-core';
import { madeForEach } from '../support/made.js';
import { useSharedService } from '../support/test-service.js';
import { useBrowser } from './use-browser.js';

describe('the interactive API reference', () => {
  const service = useSharedService();
  const browser = useBrowser();
  const client = madeForEach(() => service.make.client({ redirectUris: [`${service.url}/docs`] }));
  let page: Page;
  let foreign: string[];

  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    foreign = [];
    await page
      .context()
      .exposeFunction('complain', (complaint: string) => browser.complaints.push(complaint));
    await page.context().addInitScript(`addEventListener('securitypolicyviolation', (event) =>
      complain(event.effectiveDirective + ' ' + event.blockedURI + ' ' + event.sample))`);
    page.context().on('request', (request) => {
      if (!request.url().startsWith(`${service.url}/`) && !request.url().startsWith('data:'))
        foreign.push(request.url());
    });
    await page.goto(`${service.url}/docs#reference`);
    await page
      .locator('#reference')
      .getByRole('heading', { level: 1, name: 'Charging Data Service' })
      .waitFor();
  });
  afterEach(() => expect(foreign).toEqual([]));

  const type = async (label: string, text: string): Promise<void> => {
    await page.getByLabel(label, { exact: true }).first().click();
    await page.keyboard.type(text);
  };

  const open = (tag: string) => page.getByRole('button', { name: tag }).first().click();
  const openOperations = () => open('Users');
  const usersLink = () => page.getByRole('link', { name: /^The users who share data with the client/ });

  /** Sends `GET /v2/users` from the reference, and returns the answer. */
  const sendRequest = async (): Promise<{ status: number; authorization?: string }> => {
    await openOperations();
    await usersLink().click();
    await page.getByRole('button', { name: /^Test Request.*get \/v2\/users\)$/s }).click();
    const answer = page.waitForResponse((response) => new URL(response.url()).pathname === '/v2/users');
    await page.getByRole('button', { name: /^Send/ }).first().click();
    const response = await answer;
    const { authorization } = await response.request().allHeaders();
    return { status: response.status(), authorization };
  };

  it('shows the operations, with samples for few languages, and links to no other site', async () => {
    await openOperations();
    await usersLink().waitFor();
    const tab = page.locator('.client-libraries-list').getByRole('tab');
    await tab.first().waitFor();
    const tabs = await tab.allInnerTexts();
    expect(tabs.map((text) => text.trim())).toEqual(['Shell', 'Node.js', 'Python']);
    const links = await page
      .locator('a[href^="http"]')
      .evaluateAll((all) =>
        (all as HTMLAnchorElement[]).filter((link) => link.checkVisibility()).map(({ href }) => href),
      );
    expect(links.filter((href) => !href.startsWith(`${service.url}/`))).toEqual([]);
  });

  it('has samples in Go, examples from real answers, and a way to the guides', async () => {
    await open('Notifications');
    // Operations are drawn when they are near.
    await page.getByRole('link', { name: /^Notifications that concern the client/ }).click();
    const reference = page.locator('#reference');
    // Recorded from a running service.
    await reference.getByText('Maintenance on Sunday').first().waitFor();
    await page
      .getByRole('button', { name: /all clients/i })
      .first()
      .click();
    await page.getByRole('option', { name: 'NewRequest' }).click();
    await reference.getByText('http.NewRequest').first().waitFor();
    await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Guides' }).click();
    await page.getByRole('heading', { level: 1, name: 'Guides' }).waitFor();
  });

  it('opens the operation that a search has found', async () => {
    await page.goto(`${service.url}/docs/search?q=${encodeURIComponent('/v2/sandbox/faults')}`);
    await page.getByRole('link', { name: 'POST /v2/sandbox/faults' }).click();
    await page.waitForURL(/#tag\/sandbox\/POST\/v2\/sandbox\/faults$/);
    await page.getByRole('heading', { name: 'Let the next refresh or the next requests fail' }).waitFor();
  });

  it('opens the event that a search has found, at its place', async () => {
    await page.goto(`${service.url}/docs/search?q=charging_session.ended`);
    await page.getByRole('link', { name: 'charging_session.ended', exact: true }).click();
    await page.getByRole('heading', { name: 'charging_session.ended' }).waitFor();
    // It is drawn near the top: the anchor is known to the reference.
    await page.waitForFunction(() => {
      const heading = [...document.querySelectorAll('h3')].find(
        ({ textContent }) => textContent.trim() === 'charging_session.ended',
      );
      const top = heading?.getBoundingClientRect().top ?? -1;
      return top > 0 && top < 300;
    });
  });

  it('gets a token with the credentials of a client, and calls an operation with it', async () => {
    await page.getByRole('button', { name: 'clientCredentials' }).click();
    await type('Client ID', client.id);
    await type('Client Secret', client.secret);
    const issued = page.waitForResponse('**/o/token');
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const { access_token: token } = (await (await issued).json()) as { access_token: string };
    expect(await sendRequest()).toEqual({ status: 200, authorization: `Bearer ${token}` });
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect([kept.includes(client.secret), kept.includes(token)]).toEqual([false, false]);
  });

  it('gets a token with a user’s consent and PKCE, in a window of its own', async () => {
    const user = await service.make.user();
    const session = (await service.make.signedIn(user)).cookies.get('cds_session')!;
    await page.context().addCookies([{ name: 'cds_session', value: session, url: service.url }]);
    await type('Client ID', client.id);
    await type('Client Secret', client.secret);
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const popup = await opened;
    await popup.waitForLoadState();
    expect(await popup.getByRole('main').innerText()).toMatch(/Authorize/);
    const issued = page.waitForResponse('**/o/token');
    await popup.getByRole('button', { name: 'Authorize' }).click();
    const answer = await issued;
    expect(answer.request().postData()).toMatch(/code_verifier=/);
    const { access_token: token } = (await answer.json()) as { access_token: string };
    expect(await sendRequest()).toEqual({ status: 200, authorization: `Bearer ${token}` });
  });
});

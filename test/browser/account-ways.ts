import type { Page } from 'playwright-core';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { PASSWORD, type TestClient } from '../support/factory.js';
import { madeForEach } from '../support/made.js';
import { isAccepted } from '../support/oauth.js';
import { useSharedService, type TestService } from '../support/test-service.js';
import { signIn } from './every-page.js';
import { follow, headingOf, logIn, manage, press, said } from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';

const NEW_PASSWORD = 'a new long password';

export interface AccountInBrowser {
  service: TestService;
  user: UserEntity;
  client: TestClient;
  /** A page in a new browser, signed in on the way to the account. */
  newPage(javaScriptEnabled: boolean, path?: string, timezoneId?: string): Promise<Page>;
  /** The account in a new browser that has signed in before. */
  signedInPage(javaScriptEnabled: boolean): Promise<Page>;
}

/** For the tests of a `describe`: a user, a client and browsers. */
export function useAccount(): AccountInBrowser {
  const service = useSharedService();
  const browser = useBrowser(answersWith(400, 404));
  const user = madeForEach(() => service.make.user({ name: 'Dana Driver' }));
  const client = madeForEach(() => service.make.client({ name: 'Northwind Smart Charging' }));

  const newPage = async (
    javaScriptEnabled: boolean,
    path = '/account',
    timezoneId?: string,
  ): Promise<Page> => {
    const page = await browser.newPage({ javaScriptEnabled, timezoneId });
    await page.goto(service.url + path);
    await logIn(page, user);
    await page.waitForURL(service.url + path);
    return page;
  };
  const signedInPage = async (javaScriptEnabled: boolean): Promise<Page> => {
    const page = await browser.newPage({ javaScriptEnabled });
    await signIn(service, page, user);
    await page.goto(`${service.url}/account`);
    return page;
  };
  return { service, user, client, newPage, signedInPage };
}

/** The first ways of a user through the account, as tests; each is the same with scripts and without. */
export function accountWays(
  { service, user, client, newPage, signedInPage }: AccountInBrowser,
  javaScript: boolean,
): void {
  it('a user disconnects an application, which can then read no more data', async () => {
    const tokens = await service.make.tokens(client, user);
    const page = await signedInPage(javaScript);
    await manage(page, client.name);
    await follow(page, 'Disconnect Northwind Smart Charging');
    expect(await headingOf(page)).toBe('Disconnect application');
    await follow(page, 'Keep it connected');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
    await manage(page, client.name);
    await follow(page, 'Disconnect Northwind Smart Charging');
    await press(page, 'Disconnect');
    expect(await said(page)).toBe('Application disconnected.');
    expect(page.url()).toBe(`${service.url}/account`);
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    await page.reload();
    expect(await page.getByRole('status').count()).toBe(0);
    expect(await page.getByRole('main').innerText()).toContain('No applications are connected');
  });

  it('a user reaches the account from the start page, and the target of a link after the login', async () => {
    const page = await newPage(javaScript, '/account/sessions');
    await page.goto(service.url);
    await follow(page, 'Go to your account');
    expect(await headingOf(page)).toBe('Connected applications');
  });
}

/** Further ways, each step of which test/e2e shows over HTTP too. */
export function furtherAccountWays(
  { service, user, newPage, signedInPage }: AccountInBrowser,
  javaScript: boolean,
): void {
  const changePassword = async (page: Page, current: string, again = NEW_PASSWORD): Promise<void> => {
    await page.getByLabel('Current password').fill(current);
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByLabel('Repeat new password').fill(again);
    await press(page, 'Change password');
  };

  it('a user first makes a mistake, then changes the password, and stays signed in only here', async () => {
    const elsewhere = await signedInPage(javaScript);
    const page = await signedInPage(javaScript);
    await follow(page, 'Security');
    await follow(page, 'Password');
    await changePassword(page, PASSWORD, 'another long password');
    expect(await page.getByRole('alert').innerText()).toContain('not changed');
    expect(await page.getByLabel('Repeat new password').getAttribute('aria-invalid')).toBe('true');
    await changePassword(page, 'wrong horse battery staple');
    expect(await page.getByRole('main').innerText()).toContain('This is not your current password.');
    await changePassword(page, PASSWORD);
    expect(await said(page)).toContain('Password changed');
    expect(page.url()).toBe(`${service.url}/account/password`);
    await follow(page, 'Sharing');
    expect(await headingOf(page)).toBe('Connected applications');
    await elsewhere.reload();
    expect(await headingOf(elsewhere)).toBe('Log in');
    await logIn(elsewhere, user, NEW_PASSWORD);
    expect(await headingOf(elsewhere)).toBe('Connected applications');
  });

  it('a user signs out one other browser, and then all others', async () => {
    const others = [await newPage(javaScript), await newPage(javaScript), await newPage(javaScript)];
    const page = await newPage(javaScript);
    await follow(page, 'Security');
    await follow(page, 'Sessions');
    expect(await page.getByRole('heading', { name: 'Chrome on Linux' }).count()).toBe(4);
    await page.getByText('Chrome on Linux').nth(1).click();
    await page.getByRole('button', { name: 'Log out Chrome on Linux' }).first().click();
    expect(await said(page)).toBe('The session was logged out.');
    const signedIn = async (): Promise<boolean[]> => {
      for (const each of others) await each.goto(`${service.url}/account`);
      return Promise.all(others.map(async (each) => (await headingOf(each)) !== 'Log in'));
    };
    expect(await signedIn()).toEqual([true, true, false]);
    await press(page, 'Log out all other sessions');
    expect(await said(page)).toBe('All other sessions were logged out.');
    expect(await page.getByRole('main').innerText()).toContain('no other sessions');
    expect(await signedIn()).toEqual([false, false, false]);
    await press(page, 'Log out');
    expect(await headingOf(page)).toBe('Log in');
  });

  it('a user reads a whole notification, and marks it as read', async () => {
    const page = await newPage(javaScript);
    await follow(page, 'Notifications');
    const entry = page.getByRole('listitem').filter({ hasText: 'New login to your account' });
    const more = entry.getByText('there is nothing to do');
    expect(await more.isVisible()).toBe(false);
    await entry.getByRole('heading', { name: 'New login to your account' }).click();
    expect(await more.isVisible()).toBe(true);
    await entry.getByRole('button', { name: 'Mark as read' }).click();
    expect(await said(page)).toContain('read');
    expect(await entry.getByRole('button').count()).toBe(0);
    expect(await entry.innerText()).not.toContain('New\n');
  });
}

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { MailServer } from '../support/mail-server.js';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';
import { addAuthenticator } from './virtual-authenticator.js';

const PASSWORD = 'a new long password';

describe('Signing up with a passkey in a browser', () => {
  let service: TestService;
  let smtp: MailServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let email: string;
  let complaints: string[];
  let counter = 0;

  beforeAll(async () => {
    smtp = await MailServer.start();
    // Browsers know passkeys of names only, never of IP addresses.
    service = await startService({ hostname: 'localhost', env: { ...smtp.env, SIGN_UP: 'true' } });
    browser = await launchChromium();
  });
  beforeEach(async () => {
    email = `browser${++counter}@mail.example`;
    await open({});
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await smtp.stop();
  });

  /** Opens a new browser, which records what it complains about: a violated policy, a script's error. */
  async function open(options: Parameters<Browser['newContext']>[0]): Promise<void> {
    await context?.close();
    context = await browser.newContext(options);
    page = await context.newPage();
    complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
  }

  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const follow = (name: string): Promise<void> => page.getByRole('link', { name, exact: true }).click();
  const headingIs = (name: string): Promise<void> =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const openLink = async (): Promise<void> => {
    await page.goto(`${service.url}/login`);
    await follow('Create an account');
    await page.getByLabel('Email').fill(email);
    await press('Send link');
    await headingIs('Check your email');
    await page.goto((await smtp.mailTo(email)).link);
  };
  const choosePassword = async (): Promise<void> => {
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Repeat password').fill(PASSWORD);
    await press('Create account');
    await headingIs('Your account has been created');
  };

  it('makes an account, logs in, out, and in again, and its last passkey stays', async () => {
    await addAuthenticator(page);
    await openLink();
    await page.getByLabel('Name').fill('Zoë Driver');
    await press('Use a passkey instead');
    await headingIs('Your account has been created');
    await page.getByText('You can log in now, with your passkey.').waitFor();
    await follow('Go to the login page');
    await press('Log in with a passkey');
    await headingIs('Connected applications');
    await page.getByText(email).waitFor();
    await press('Log out');
    await headingIs('Log in');
    await page.goto(`${service.url}/account/security`);
    await press('Log in with a passkey');
    await headingIs('Security');
    await page.getByRole('link', { name: /^Remove / }).click();
    // The refusal is a page of its own, which the browser reports as a failed request.
    await press('Remove');
    await page.getByText('This passkey is the only way to log in to your account.').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('409')]);
    await page.goto(`${service.url}/account/password`);
    await page.getByText('You have no password').waitFor();
  });

  it('asks for a name first, and says what went wrong when the device makes none', async () => {
    const { cdp, authenticatorId } = await addAuthenticator(page);
    await openLink();
    await press('Use a passkey instead');
    expect(await page.getByLabel('Name').evaluate((field) => field === document.activeElement)).toBe(true);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.getByLabel('Name').fill('Zoë Driver');
    await press('Use a passkey instead');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('No passkey was used');
    await choosePassword();
  });

  it('that the service refused lets its user choose a password, with the name that was typed', async () => {
    await addAuthenticator(page);
    await openLink();
    await page.route('**/passkey/options', async (route) => {
      const answer = await route.fetch();
      await service.database.query('DELETE FROM webauthn_challenges');
      await route.fulfill({ response: answer });
    });
    await page.getByLabel('Name').fill('Zoë Driver');
    await press('Use a passkey instead');
    await page.getByText('Your account was not created').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    expect(await page.getByLabel('Name').inputValue()).toBe('Zoë Driver');
    await choosePassword();
  });

  it('is not possible without a script, which the page says, and a password is taken', async () => {
    await open({ javaScriptEnabled: false });
    await openLink();
    await page.getByText('This browser cannot use passkeys').waitFor();
    expect(await page.getByRole('button', { name: 'Use a passkey instead' }).count()).toBe(0);
    await page.getByLabel('Name').fill('Zoë Driver');
    await choosePassword();
  });
});

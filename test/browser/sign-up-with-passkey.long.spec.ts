import type { BrowserContextOptions, Page } from 'playwright-core';
import { useServiceWithMail } from '../support/set-up.js';
import { follow, headingIs, press } from './page-actions.js';
import { useBrowser } from './use-browser.js';
import { addAuthenticator } from './virtual-authenticator.js';

const PASSWORD = 'a new long password';

describe('Signing up with a passkey in a browser', () => {
  // Browsers know passkeys of names only, never of IP addresses.
  const { service, smtp } = useServiceWithMail({ hostname: 'localhost', env: { SIGN_UP: 'true' } });
  const browser = useBrowser();
  let page: Page;
  let email: string;
  let counter = 0;

  beforeEach(async () => {
    email = `browser${++counter}@mail.example`;
    await open({});
  });

  async function open(options: BrowserContextOptions): Promise<void> {
    page = await browser.newPage(options);
  }

  const openLink = async (): Promise<void> => {
    await page.goto(`${service.url}/login`);
    await follow(page, 'Create an account');
    await page.getByLabel('Email').fill(email);
    await press(page, 'Send link');
    await headingIs(page, 'Check your email');
    await page.goto((await smtp.mailTo(email)).link);
  };
  const choosePassword = async (): Promise<void> => {
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Repeat password').fill(PASSWORD);
    await press(page, 'Create account');
    await headingIs(page, 'Your account has been created');
  };

  it('makes an account, logs in, out, and in again, and its last passkey stays', async () => {
    await addAuthenticator(page);
    await openLink();
    await page.getByLabel('Name').fill('Zoë Driver');
    await press(page, 'Use a passkey instead');
    await headingIs(page, 'Your account has been created');
    await page.getByText('You can log in now, with your passkey.').waitFor();
    await follow(page, 'Go to the login page');
    await press(page, 'Log in with a passkey');
    await headingIs(page, 'Connected applications');
    await page.getByText(email).waitFor();
    await press(page, 'Log out');
    await headingIs(page, 'Log in');
    await page.goto(`${service.url}/account/security`);
    await press(page, 'Log in with a passkey');
    await headingIs(page, 'Security');
    await page.getByRole('link', { name: /^Remove / }).click();
    // The refusal is a page of its own, which the browser reports as a failed request.
    await press(page, 'Remove');
    await page.getByText('This passkey is the only way to log in to your account.').waitFor();
    expect(browser.complaints.splice(0)).toEqual([expect.stringContaining('409')]);
    await page.goto(`${service.url}/account/password`);
    await page.getByText('You have no password').waitFor();
  });

  it('asks for a name first, and says what went wrong when the device makes none', async () => {
    const { cdp, authenticatorId } = await addAuthenticator(page);
    await openLink();
    await press(page, 'Use a passkey instead');
    expect(await page.getByLabel('Name').evaluate((field) => field === document.activeElement)).toBe(true);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.getByLabel('Name').fill('Zoë Driver');
    await press(page, 'Use a passkey instead');
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
    await press(page, 'Use a passkey instead');
    await page.getByText('Your account was not created').waitFor();
    expect(browser.complaints.splice(0)).toEqual([expect.stringContaining('400')]);
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

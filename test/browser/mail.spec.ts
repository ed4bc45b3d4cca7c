import type { Browser, BrowserContext, Page } from 'playwright-core';
import { MailServer } from '../support/mail-server.js';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';

const NEW_PASSWORD = 'a new long password';

describe('by mail, in a browser without scripts,', () => {
  let service: TestService;
  let smtp: MailServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    smtp = await MailServer.start();
    service = await startService({ env: { ...smtp.env, SIGN_UP: 'true' } });
    browser = await launchChromium();
  });
  beforeEach(async () => {
    context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
    await page.goto(`${service.url}/login`);
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await smtp.stop();
  });

  const logIn = async (email: string): Promise<void> => {
    await page.getByRole('link', { name: 'Go to the login page' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.goto(`${service.url}/account/email`);
    await page.getByText('Confirmed', { exact: true }).waitFor();
  };

  it('a forgotten password is set anew', async () => {
    const { email } = await service.make.user();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await page.goto((await smtp.mailTo(email)).link);
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByLabel('Repeat new password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await logIn(email);
  });

  it('an account is created', async () => {
    const email = 'new-driver@mail.example';
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await page.goto((await smtp.mailTo(email)).link);
    await page.getByLabel('Name').fill('Zoë Driver');
    await page.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByLabel('Repeat password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await logIn(email);
    expect(await page.getByRole('region', { name: 'Logged in user' }).innerText()).toContain('Zoë Driver');
  });

  it('an address is confirmed', async () => {
    const user = await service.make.user({ password: NEW_PASSWORD });
    await page.getByLabel('Email').fill(user.email);
    await page.getByLabel('Password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.goto(`${service.url}/account/email`);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByRole('status').waitFor();
    await page.goto((await smtp.mailTo(user.email)).link);
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await page.getByRole('heading', { name: 'Your address has been confirmed' }).waitFor();
  });

  it('the mail itself is readable without style sheets or pictures', async () => {
    const { email } = await service.make.user();
    await page.goto(`${service.url}/password/forgotten`);
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send link' }).click();
    const { html, link } = await smtp.mailTo(email);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.setContent(html);
    expect(await page.getByRole('link', { name: 'Set a new password' }).getAttribute('href')).toBe(link);
    expect(requests.filter((url) => !url.startsWith('data:') && url !== 'about:blank')).toEqual([]);
  });
});

import { BrowserSession, type Page } from './browser-session.js';
import type { MailServer } from './mail-server.js';
import { SoftwarePasskey, type Tampering } from './software-passkey.js';

interface CreationOptions {
  challenge: string;
  user: { id: string; name: string };
  rp: { id: string };
}

/** Asks for a link to create an account; returns its path, from the n-th mail to the address. */
export async function signUpLink(
  browser: BrowserSession,
  smtp: MailServer,
  email: string,
  n = 1,
): Promise<string> {
  await browser.fillIn('/sign-up', { email });
  return new URL((await smtp.mailTo(email, n)).link).pathname;
}

/** The options for the passkey of a new account, as the script of the page of a sign-up link gets them. */
export async function signUpOptions(browser: BrowserSession, link: string): Promise<CreationOptions> {
  const answer = await browser.open(`${link}/passkey/options`, { method: 'POST', json: {} });
  if (answer.status !== 200) throw new Error(`no options: ${answer.status} ${answer.text}`);
  return answer.json as CreationOptions;
}

/** Posts the page of a sign-up link as its script does. */
export async function postPasskey(
  browser: BrowserSession,
  link: string,
  response: string,
  name = 'Zoë Driver',
): Promise<Page> {
  return browser.fillIn(link, { name, response });
}

/** Makes the account of a sign-up link with a passkey, or tries to. */
export async function signUpWithPasskey(
  browser: BrowserSession,
  link: string,
  origin: string,
  tampering: Tampering = {},
): Promise<{ passkey: SoftwarePasskey; page: Page }> {
  const passkey = new SoftwarePasskey(origin);
  const response = passkey.create(await signUpOptions(browser, link), tampering);
  return { passkey, page: await postPasskey(browser, link, response) };
}

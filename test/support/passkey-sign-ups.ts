import { BrowserSession, type Page } from './browser-session.js';
import { SoftwarePasskey, type Tampering } from './software-passkey.js';

interface CreationOptions {
  challenge: string;
  user: { id: string; name: string };
  rp: { id: string };
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
  return browser.submit(await browser.open(link), link, { name, response });
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

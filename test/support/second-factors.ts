import { TOTP } from 'otpauth';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, type Page } from './browser-session.js';
import { PASSWORD } from './factory.js';
import type { Answer } from './http.js';
import { SoftwarePasskey, type Tampering } from './software-passkey.js';
import type { TestInstance } from './test-service.js';

const STEP_MS = 30_000;

/** The code of an app's secret, so many steps of 30 seconds from now. */
export const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + steps * STEP_MS });

/** A code that no step around now has. */
export function wrongCode(secret: string): string {
  const right = [-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps));
  return ['000000', '000001', '000002', '000003', '000004', '000005'].find((code) => !right.includes(code))!;
}

/** The step of 30 seconds that it is. */
export const stepNow = (): number => Math.floor(Date.now() / STEP_MS);

/** What work returned during which no step of 30 seconds began: "so many steps from now" meant the same to the service. */
export async function withinOneStep<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const step = stepNow();
    const result = await work();
    if (stepNow() === step) return result;
  }
}

/** The codes on a page that shows them once. */
const recoveryCodesOn = (page: Page): string[] =>
  page.html.querySelectorAll('.recovery-codes code').map((code) => code.text);

/**
 * Sets up an authenticator app on the account page; returns its secret, the code that set it up, and the recovery codes if any were
 * shown.
 */
export async function addApp(
  browser: BrowserSession,
  steps = -1,
): Promise<{ secret: string; code: string; codes: string[] }> {
  const path = '/account/security/app/new';
  let page = await browser.open(path);
  const secret = page.html.querySelector('code.secret')!.text.replaceAll(' ', '');
  for (;;) {
    const step = stepNow();
    const code = codeOf(secret, steps);
    const answer = await browser.submit(page, path, { code });
    if (answer.status === 303)
      return { secret, code, codes: recoveryCodesOn(await browser.open(answer.headers.get('location')!)) };
    // The code of the step before is too old if another step began before it arrived.
    if (stepNow() === step) throw new Error(`no app: ${answer.status} ${answer.html.text}`);
    page = answer;
  }
}

const NEW_PASSKEY = '/account/security/passkeys/new';

/** The page that adds a passkey, and what its script would read there. */
export async function openNewPasskey(browser: BrowserSession) {
  const page = await browser.open(NEW_PASSKEY);
  const form = page.html.querySelector('form[data-passkey-creation]');
  if (!form) throw new Error(`no form: ${page.status} ${page.headers.get('location')}`);
  const options = JSON.parse(form.getAttribute('data-passkey-creation')!.replaceAll('&quot;', '"')) as {
    challenge: string;
    user: { id: string };
    rp: { id: string };
    excludeCredentials: { id: string }[];
    authenticatorSelection: object;
  };
  const send = (response: string, name = 'My key') => browser.submit(page, NEW_PASSKEY, { response, name });
  return { page, options, send };
}

/** Adds a passkey on the account page. */
export async function addPasskey(
  browser: BrowserSession,
  origin: string,
  { counts = false, name = 'My key' } = {},
): Promise<{ passkey: SoftwarePasskey; codes: string[] }> {
  const { options, send } = await openNewPasskey(browser);
  const passkey = new SoftwarePasskey(origin, counts);
  const answer = await send(passkey.create(options), name);
  if (answer.status !== 303) throw new Error(`no passkey: ${answer.status} ${answer.html.text}`);
  return { passkey, codes: recoveryCodesOn(await browser.open(answer.headers.get('location')!)) };
}

/** The options of a login with a passkey. */
export async function passkeyOptions(browser: BrowserSession): Promise<{ challenge: string }> {
  const answer = await browser.open('/login/passkey/options', { method: 'POST', json: {} });
  if (answer.status !== 200) throw new Error(`no options: ${answer.status} ${answer.text}`);
  return answer.json as { challenge: string };
}

/** Logs in with a passkey, as the script of the login page does. */
export async function logInWith(
  passkey: SoftwarePasskey,
  browser: BrowserSession,
  tampering: Tampering = {},
  returnTo?: string,
): Promise<Answer> {
  return answerPasskey(browser, passkey.get(await passkeyOptions(browser), tampering), returnTo);
}

export const answerPasskey = (
  browser: BrowserSession,
  response: object,
  returnTo?: string,
): Promise<Answer> =>
  browser.open('/login/passkey', { method: 'POST', json: { response, return_to: returnTo } });

/** Gives the password of an account; the answer leads on, to a second factor or to where the browser wanted to go. */
export async function givePassword(
  browser: BrowserSession,
  { email }: UserEntity,
  returnTo?: string,
): Promise<Page> {
  const query = returnTo ? `?${new URLSearchParams({ return_to: returnTo }).toString()}` : '';
  return browser.submit(await browser.open(`/login${query}`), '/login', { email, password: PASSWORD });
}

/** Gives a code at the step after the password. */
export async function giveCode(
  browser: BrowserSession,
  code: string,
  path = '/login/second-factor',
): Promise<Page> {
  return browser.submit(await browser.open(path), '/login/second-factor', { code });
}

/** Whether someone is logged in in this browser. */
export const isSignedIn = async (browser: BrowserSession): Promise<boolean> =>
  (await browser.open('/account')).status === 200;

export const newBrowserAt = ({ url }: TestInstance): BrowserSession => new BrowserSession(url);

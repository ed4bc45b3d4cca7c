import type { BrowserContextOptions, Page } from 'playwright-core';
import { madeForEach } from '../support/made.js';
import { useService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { headingIs, logIn, press } from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';
import { addAuthenticator } from './virtual-authenticator.js';

interface Suggesting {
  /** The requests for passkeys in the browser's list that wait. */
  waiting: (() => void)[];
  offered: number;
  /** Chooses the passkey in the list. */
  choose(): void;
}

/**
 * A browser without a window has no list of suggestions. This stands for the list: a conditional request waits in it until the person
 * chooses, and is then answered by the browser's own authenticator.
 */
const withList = (): void => {
  const page = globalThis as unknown as {
    list: Suggesting;
    PublicKeyCredential: { isConditionalMediationAvailable: () => Promise<boolean> };
    navigator: { credentials?: { get: (options: Record<string, unknown>) => Promise<unknown> } };
  };
  // The empty page that a browser begins with has none.
  if (!page.navigator.credentials) return;
  const get = page.navigator.credentials.get.bind(page.navigator.credentials);
  page.PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(true);
  page.list = { waiting: [], offered: 0, choose: () => page.list.waiting.at(-1)!() };
  page.navigator.credentials.get = async ({ mediation, signal, ...options }) => {
    if (mediation !== 'conditional') return get({ ...options, signal });
    const list = page.list;
    list.offered++;
    await new Promise<void>((resolve, reject) => {
      list.waiting.push(resolve);
      (signal as AbortSignal).addEventListener('abort', () => {
        list.waiting = list.waiting.filter((each) => each !== resolve);
        reject((signal as AbortSignal).reason as Error);
      });
    });
    return get(options);
  };
};

describe('The login page', () => {
  // Browsers know passkeys of names only, never of IP addresses.
  const service = useService({ hostname: 'localhost' });
  const browser = useBrowser(answersWith(401, 403));
  const user = madeForEach(() => service.make.user());
  let page: Page;

  async function open(options: BrowserContextOptions = {}, list = true): Promise<void> {
    const context = await browser.newContext(options);
    if (list) await context.addInitScript(withList);
    page = await context.newPage();
  }
  const addPasskey = async (): Promise<void> => {
    await addAuthenticator(page, { suggests: true });
    await page.goto(`${service.url}/account/security/passkeys/new`);
    await logIn(page, user);
    await page.getByLabel('Name').fill('My laptop');
    await press(page, 'Continue');
    await page.getByText('Passkey added.').waitFor();
  };
  /** Adds a passkey and logs out. */
  const withPasskey = async (): Promise<void> => {
    await addPasskey();
    await press(page, 'Log out');
    await headingIs(page, 'Log in');
  };
  const offered = (on = page) =>
    on.evaluate(() => (globalThis as unknown as { list: Suggesting }).list.offered);
  const waiting = () =>
    page.evaluate(() => (globalThis as unknown as { list: Suggesting }).list.waiting.length);
  const choose = () => page.evaluate(() => (globalThis as unknown as { list: Suggesting }).list.choose());
  const untilOffered = (times: number, on = page) =>
    until(`passkeys are offered ${times} times`, async () => (await offered(on)) === times);

  it('logs in with what the browser answers to a suggestion', async () => {
    await open({}, false);
    await addPasskey();
    // Nothing else is pressed: the authenticator answers at once.
    await press(page, 'Log out');
    await headingIs(page, 'Connected applications');
    await page.getByText(user.email).waitFor();
  });

  it('marks the field for the email address, and logs in with the passkey that is chosen from the list', async () => {
    await open();
    await withPasskey();
    await page.goto(`${service.url}/account/sessions`);
    expect(await page.getByLabel('Email').getAttribute('autocomplete')).toBe('username webauthn');
    await untilOffered(1);
    await choose();
    await headingIs(page, 'Sessions');
  });

  it('still logs in with a passkey by the button, and offers the list again if that fails', async () => {
    await open();
    const { cdp, authenticatorId } = await addAuthenticator(page, { suggests: true });
    await page.goto(`${service.url}/login`);
    await untilOffered(1);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await press(page, 'Log in with a passkey');
    await page.getByRole('alert').waitFor();
    await untilOffered(2);
    expect(await waiting()).toBe(1);
  });

  it('says so if the chosen passkey does not log in, and offers the list again', async () => {
    await open();
    await withPasskey();
    await service.database.query('DELETE FROM passkeys WHERE user_id = $1', [user.id]);
    await page.goto(`${service.url}/login`);
    await untilOffered(1);
    await choose();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('This passkey does not log you in here');
    await untilOffered(2);
  });

  it('is offered anew when the person comes back to the page from another one', async () => {
    await open();
    await withPasskey();
    await page.goto(`${service.url}/login`);
    await untilOffered(1);
    const other = await page.context().newPage();
    await other.goto(`${service.url}/login`);
    await untilOffered(1, other);
    await page.evaluate(() => {
      (globalThis as unknown as { document: EventTarget }).document.dispatchEvent(
        new Event('visibilitychange'),
      );
    });
    await untilOffered(2);
    await choose();
    await page.getByText(user.email).waitFor();
  });

  it('does not ask for a challenge in a browser that has no list', async () => {
    await open({}, false);
    await page.context().addInitScript(() => {
      const { PublicKeyCredential: known } = globalThis as unknown as {
        PublicKeyCredential: Record<string, unknown>;
      };
      delete known['isConditionalMediationAvailable'];
    });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${service.url}/login`);
    await logIn(page, user);
    await page.getByText(user.email).waitFor();
    expect(asked).not.toContain('/login/passkey/options');
  });

  it('logs in with the password without scripts', async () => {
    await open({ javaScriptEnabled: false });
    await page.goto(`${service.url}/login`);
    await logIn(page, user);
    await page.getByText(user.email).waitFor();
  });
});

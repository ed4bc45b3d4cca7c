import type { BrowserContextOptions, Page } from 'playwright-core';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { codeOf } from '../support/second-factors.js';
import { useService } from '../support/test-service.js';
import { follow, headingIs, logIn, press } from './page-actions.js';
import { scannedCode } from './scanned-code.js';
import { answersWith, useBrowser } from './use-browser.js';
import { addAuthenticator } from './virtual-authenticator.js';

describe('Second factors in a browser', () => {
  // Browsers know passkeys of names only, never of IP addresses.
  const service = useService({ hostname: 'localhost' });
  const browser = useBrowser(answersWith(401, 403));
  let user: UserEntity;
  let page: Page;

  beforeEach(async () => {
    user = await service.make.user({ name: 'Dana Driver' });
    await open({});
  });
  afterEach(() => jest.restoreAllMocks());

  async function open(options: BrowserContextOptions): Promise<void> {
    page = await browser.newPage(options);
  }

  const enterPassword = async (path: string): Promise<void> => {
    await page.goto(service.url + path);
    await logIn(page, user);
  };
  const addPasskey = async (name: string): Promise<void> => {
    await enterPassword('/account/security');
    await follow(page, 'Add a passkey');
    await page.getByLabel('Name').fill(name);
    await press(page, 'Continue');
    await page.getByText('Passkey added.').waitFor();
  };
  const logOut = async (): Promise<void> => {
    await press(page, 'Log out');
    await headingIs(page, 'Log in');
  };

  it('a passkey is added, logs in, does not log in without its user being verified, and is removed', async () => {
    const { cdp, authenticatorId } = await addAuthenticator(page);
    await addPasskey('My laptop');
    await page.getByRole('heading', { level: 3, name: 'My laptop' }).waitFor();
    await logOut();

    await page.goto(`${service.url}/account/sessions`);
    // The browser has passkeys of its own, so the button needs no unfolding.
    await press(page, 'Log in with a passkey');
    await headingIs(page, 'Sessions');
    expect(new URL(page.url()).pathname).toBe('/account/sessions');
    await page.getByText(user.email).waitFor();
    await logOut();

    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await press(page, 'Log in with a passkey');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('No passkey was used');
    await page.goto(`${service.url}/account`);
    await headingIs(page, 'Log in');

    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await press(page, 'Log in with a passkey');
    await headingIs(page, 'Connected applications');
    await page.goto(`${service.url}/account/security`);
    await follow(page, 'Remove My laptop');
    await press(page, 'Remove');
    await page.getByText('Passkey removed.').waitFor();
    await logOut();
    await press(page, 'Log in with a passkey');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('This passkey does not log you in here');
  });

  it('the same device does not get a second passkey', async () => {
    await addAuthenticator(page);
    await addPasskey('My laptop');
    await page.goto(`${service.url}/account/security/passkeys/new`);
    await press(page, 'Continue');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toBe(
      'This device already has a passkey for your account.',
    );
  });

  it('an older browser, without the functions for JSON, adds a passkey and logs in with it', async () => {
    await page.context().addInitScript(() => {
      const { PublicKeyCredential: known } = globalThis as unknown as {
        PublicKeyCredential: { prototype: object } & Record<string, unknown>;
      };
      delete known['parseCreationOptionsFromJSON'];
      delete known['parseRequestOptionsFromJSON'];
      delete (known.prototype as Record<string, unknown>)['toJSON'];
    });
    await addAuthenticator(page);
    await addPasskey('An old browser');
    await logOut();
    await press(page, 'Log in with a passkey');
    await headingIs(page, 'Connected applications');
    await page.getByText(user.email).waitFor();
  });

  it('an authenticator app is set up with the key on the page, and asked for after the password', async () => {
    await enterPassword('/account/security/app/new');
    await page.getByRole('img', { name: 'QR code with the key below' }).waitFor();
    const secret = (await page.locator('code.secret').innerText()).replaceAll(' ', '');
    // The code of the step before, which would be too old if another step began on its way.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret, -1));
    await press(page, 'Continue');
    await headingIs(page, 'Recovery codes');
    clock.mockRestore();
    await follow(page, 'I have copied it');
    await logOut();
    await enterPassword('/account/sessions');
    await headingIs(page, 'One more step');
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
    await page.keyboard.press('Enter');
    await headingIs(page, 'Sessions');
  });

  it.each([
    ['in light', { colorScheme: 'light' }],
    ['in dark', { colorScheme: 'dark' }],
    ['on a phone', { colorScheme: 'dark', viewport: { width: 320, height: 640 }, deviceScaleFactor: 3 }],
  ] as const)(
    'a phone that scans the code %s reads the key on the page, and whose it is',
    async (_how, how) => {
      user = await service.make.user({ email: `${'long'.repeat(15)}+tag${user.email}` });
      await open(how);
      await enterPassword('/account/security/app/new');
      const secret = (await page.locator('code.secret').innerText()).replaceAll(' ', '');
      const issuer = 'Charging%20Data%20Service';
      expect(await scannedCode(page.getByRole('img', { name: 'QR code with the key below' }))).toBe(
        `otpauth://totp/${issuer}:${encodeURIComponent(user.email)}?issuer=${issuer}&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
      );
    },
  );

  it('without a script, the login offers no passkey, and the page that adds one says why', async () => {
    await open({ javaScriptEnabled: false });
    await enterPassword('/account/security/passkeys/new');
    await page.getByText('This browser cannot use passkeys').waitFor();
    expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0);
    await logOut();
    expect(
      await page
        .getByText(/passkey/i)
        .locator('visible=true')
        .count(),
    ).toBe(0);
  });
});

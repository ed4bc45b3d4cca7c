import { loadSettings } from '#platform/config/settings.js';
import { AuthenticatorAppsService } from '#access/users/factors/authenticator-apps.service.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { brandOn } from '../support/brand-page.js';
import { BrowserSession, placeOf, TEST_ENCRYPTION_KEY, useServiceWithMail } from '../support/spec.js';
import { CONSOLE } from '../support/console.js';
import { openNewPasskey } from '../support/second-factors.js';

const BRAND = `${CONSOLE}/brand`;
const EDIT = `${BRAND}/edit`;

describe('The settings of the brand', () => {
  const env = {
    BRAND_NAME: 'Charge & Co',
    BRAND_ACCENT_COLOR: '#0050B3',
    BRAND_SUPPORT_EMAIL: 'help@charge.example',
    BRAND_PRIVACY_URL: 'https://charge.example/privacy',
    BRAND_TERMS_URL: 'https://charge.example/terms',
    BRAND_FOOTER: 'Charge & Co, Oslo',
  };
  const { service, smtp } = useServiceWithMail({ env });
  const asTyped = { name: 'Charge & Co', accent_color: '#0050b3' };
  const edit = async (fields: Record<string, string>) => {
    const browser = await service.make.signedInNew({ role: 'operator' });
    expect(placeOf(await browser.fillIn(EDIT, fields))).toEqual([303, BRAND]);
    return browser;
  };

  const DARKER = 'must be darker: its contrast with white text and with light pages must be at least 4.5:1';
  const HTTPS = 'must be an https URL, such as https://www.example.com/privacy';
  it.each([
    ['BRAND_NAME', ' '.repeat(5), 'must be one line of visible text'],
    ['BRAND_NAME', 'x'.repeat(61), 'must have 1 to 60 characters'],
    ['BRAND_ACCENT_COLOR', 'green', 'must be a colour such as #006b57'],
    ['BRAND_ACCENT_COLOR', '#ffcc00', DARKER],
    ['BRAND_SUPPORT_EMAIL', 'help', 'must be an email address'],
    ['BRAND_PRIVACY_URL', 'http://charge.example', HTTPS],
    ['BRAND_TERMS_URL', 'javascript:alert(1)', HTTPS],
    ['BRAND_FOOTER', 'a\nb', 'must be one line of visible text'],
  ])('refuses %s=%j at the start', async (name, value, words) => {
    const others = { NODE_ENV: 'test', DATABASE_URL: 'postgres://h/x', ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
    const loading = loadSettings({ ...others, ...env, [name]: value });
    await expect(loading).rejects.toThrow(`${name} ${words}`);
  });

  it('are what pages show, until an admin saves something else, which wins', async () => {
    const page = async (): Promise<ReturnType<typeof brandOn>> =>
      brandOn(await (await service.make.signedInNew()).open('/'));
    expect(await page()).toMatchObject({
      title: 'Home · Charge & Co',
      links: ['mailto:help@charge.example', env.BRAND_PRIVACY_URL, env.BRAND_TERMS_URL],
    });
    await edit({ footer: 'Another line', terms_url: '' });
    expect(await page()).toMatchObject({
      header: 'Charge & Co',
      footer: expect.arrayContaining(['Another line']),
      links: ['mailto:help@charge.example', env.BRAND_PRIVACY_URL],
    });
    // What is as in the settings follows them.
    const [stored] = await service.database.query('SELECT name, accent_color, footer, terms_url FROM brand');
    expect(stored).toEqual({ name: null, accent_color: null, footer: 'Another line', terms_url: '' });
  });

  it('name the service in mails, passkeys, authenticator apps and the description of the API', async () => {
    await edit(asTyped);
    const user = await service.make.user({ email: 'ada@charge.example' });
    await new BrowserSession(service.url).fillIn('/password/forgotten', { email: user.email });
    const { text, html } = await smtp.mailTo(user.email);
    expect(text).toContain('-- \nCharge & Co\n');
    expect(text).toContain('Support: help@charge.example');
    expect(text).toContain('Privacy: https://charge.example/privacy');
    expect(html).toContain('href="mailto:help@charge.example"');
    expect(html).toContain('background-color:#0050b3');
    expect(html).not.toMatch(/<img|<link|url\(/);
    const document = await service.http.get('/openapi.json');
    const forOperators = await service.http.get('/openapi/operators.json');
    expect([document.json.info.title, forOperators.json.info.title]).toEqual([
      'Charge & Co',
      'Charge & Co for operators',
    ]);
    const { options } = await openNewPasskey(await service.make.signedIn(user));
    expect(options.rp).toMatchObject({ name: 'Charge & Co' });
    const signedIn = { ...user, sessionDigest: Buffer.alloc(32) } as unknown as SignedInUser;
    const { uri } = service.app.get(AuthenticatorAppsService).begin(signedIn);
    expect(new URL(uri).searchParams.get('issuer')).toBe('Charge & Co');
  });
});

import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo, type Page } from '../support/browser-session.js';
import { useServiceWithProvider } from '../support/set-up.js';

describe('A login through a provider where people choose what it shares', () => {
  const idp = new BrokenIdentityProvider();
  const service = useServiceWithProvider(idp, [
    { id: 'broken', label: 'Broken Company', trust_email: true, audience: ['users'], accounts: 'create' },
  ]);

  async function logIn(): Promise<Page> {
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    return browser.open(idp.callbackOf(leadsTo(begun)!));
  }

  it('says that the email address is missing, not that it is unverified', async () => {
    idp.faults = { claims: { email: undefined, email_verified: undefined } };
    const page = await logIn();
    expect([page.status, page.html.querySelector('h1')?.text]).toEqual([403, 'Your email address is needed']);
    expect(page.html.text).toContain('allow Broken Company to share your address');
    expect(service.log.join('\n')).toContain(
      'Login through broken refused (email_missing): no email address',
    );
  });

  it('says that the address is not verified where one was sent', async () => {
    idp.faults = { claims: { email_verified: false } };
    const page = await logIn();
    expect(page.html.querySelector('h1')?.text).toBe('Your email address is not verified');
  });

  it('works for the same person once the address is shared', async () => {
    idp.faults = { claims: { email_verified: undefined } };
    expect((await logIn()).headers.get('location')).toBe('/account');
  });
});

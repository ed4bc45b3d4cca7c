import { useBrokenProvider } from '../support/broken-provider.js';
import { BrowserSession, leadsTo } from '../support/browser-session.js';

describe('The clock of an identity provider', () => {
  const { idp, service } = useBrokenProvider({ id: 'broken', label: 'Broken Company' });

  const logIn = async (claims: Record<string, unknown>) => {
    idp.faults = { claims };
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    return browser.open(idp.callbackOf(leadsTo(begun)!));
  };
  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

  it.each([
    ['issued in an hour', () => ({ iat: inSeconds(3600), exp: inSeconds(7200) })],
    ['issued in ten minutes', () => ({ iat: inSeconds(600), exp: inSeconds(900) })],
    ['of someone who authenticates in an hour', () => ({ auth_time: inSeconds(3600) })],
  ])('is not believed in an ID token %s', async (_what, claims) => {
    const page = await logIn(claims());
    expect([page.status, page.html.querySelector('h1')?.text]).toEqual([
      400,
      'The answer could not be accepted',
    ]);
  });

  it('may be a few seconds ahead', async () => {
    // Within the 30 s of contract §15, by more than a slow machine takes.
    const page = await logIn({ iat: inSeconds(10), exp: inSeconds(600), auth_time: inSeconds(10) });
    expect(page.headers.get('location')).toBe('/account');
  });
});

import { ProviderClients } from '#access/identity-providers/protocol/provider-clients.service.js';
import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo, postedAnew, type Page } from '../support/browser-session.js';
import { withSettings } from '../support/changed-settings.js';
import { madeOnce, useServiceWithProvider } from '../support/spec.js';

/** Metadata that must never be used. */
const WRONG: [string, Record<string, unknown>][] = [
  ['an authorization endpoint that is no URL', { authorization_endpoint: 'not a url' }],
  ['an authorization endpoint that is a script', { authorization_endpoint: 'javascript:alert(1)' }],
  ['an authorization endpoint without https', { authorization_endpoint: 'http://login.example/auth' }],
  ['an authorization endpoint that is a number', { authorization_endpoint: 7 }],
  ['no authorization endpoint', { authorization_endpoint: undefined }],
  ['a token endpoint that is no URL', { token_endpoint: '/token' }],
  ['no token endpoint', { token_endpoint: undefined }],
  ['keys at something that is no URL', { jwks_uri: '' }],
  ['a userinfo endpoint that is no URL', { userinfo_endpoint: 'userinfo' }],
  ['an end of sessions that is no URL', { end_session_endpoint: 'https://' }],
  ['an end of sessions that is null', { end_session_endpoint: null }],
  ['ways to authenticate clients that are no list', { token_endpoint_auth_methods_supported: 'all' }],
  ['an issuer that is no URL', { issuer: 'not a url' }],
  ['an issuer that is a number', { issuer: 7 }],
];

describe('Metadata of an identity provider', () => {
  const idp = new BrokenIdentityProvider();
  const service = useServiceWithProvider(idp, [{ id: 'broken', label: 'Broken Company' }]);
  const browser = madeOnce(() => new BrowserSession(service.url));
  const login = madeOnce(() => browser.open('/login'));

  const begin = (): Promise<Page> => browser.submit(login, '/login/providers/broken', postedAnew());
  /** The login page of a service where this provider is the only way in, which leads on to it. */
  const onlyProvider = () =>
    withSettings(service, { passwordSignIn: false }, () =>
      service.http.get('/login', { headers: { accept: 'text/html' } }),
    );

  it.each(WRONG)(
    'with %s is refused, while every page works, and is read again at once',
    async (_what, metadata) => {
      idp.faults = { metadata };
      for (let n = 0; n < 2; n++) {
        const refused = await begin();
        expect([refused.status, refused.html.querySelector('h1')!.text]).toEqual([
          503,
          'This login does not work',
        ]);
        expect((await service.http.get('/login')).status).toBe(200);
        const alone = await onlyProvider();
        expect([alone.status, alone.text.includes('This login does not work')]).toEqual([503, true]);
      }
      expect(service.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
      idp.faults = {};
      expect(leadsTo(await begin())).toContain(`${idp.url}/auth?`);
      // What is known is kept for an hour; the next case begins without it.
      const clients = service.app.get(ProviderClients, { strict: false });
      for (const each of clients.providers) clients.forget(each);
    },
  );

  it('with an https address for browsers on another host than the issuer is used', async () => {
    idp.faults = { metadata: { authorization_endpoint: 'https://login.example/auth?tenant=one' } };
    const location = new URL(leadsTo(await begin())!);
    expect([location.origin, location.searchParams.get('tenant')]).toEqual(['https://login.example', 'one']);
  });
});

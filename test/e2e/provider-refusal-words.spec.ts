import { ProviderClients } from '../../src/identity-providers/protocol/provider-clients.service.js';
import { SignInLimitsService } from '../../src/rate-limits/sign-in/sign-in-limits.service.js';
import type { Faults } from '../support/broken-identity-provider.js';
import { useBrokenProvider } from '../support/broken-provider.js';
import { BrowserSession, type Page } from '../support/browser-session.js';

const DISCOVERY = '/.well-known/openid-configuration';
const HTML = { 'content-type': 'text/html' };
const page = (status: number) => ({ status, body: '<!doctype html><title>Proxy</title>', headers: HTML });

/** What a provider does, and how the refusal reads. */
const CASES: [string, Faults, { reason: string; status: number; reads: RegExp }][] = [
  [
    'wrong client credentials',
    { answers: { '/token': { status: 400, body: '{"error":"invalid_client"}' } } },
    { reason: 'client_refused', status: 503, reads: /does not accept this service/ },
  ],
  [
    'wrong client credentials, with 401 and a challenge',
    {
      answers: {
        '/token': {
          status: 401,
          body: '{"error":"invalid_client"}',
          headers: { 'www-authenticate': 'Basic realm="Company"' },
        },
      },
    },
    { reason: 'client_refused', status: 503, reads: /does not accept this service/ },
  ],
  [
    'wrong client credentials, with 401 and a page',
    { answers: { '/token': page(401) } },
    { reason: 'client_refused', status: 503, reads: /does not accept this service/ },
  ],
  [
    'a client that may not use this grant',
    { answers: { '/token': { status: 400, body: '{"error":"unauthorized_client"}' } } },
    { reason: 'client_refused', status: 503, reads: /does not accept this service/ },
  ],
  [
    'a client that it does not know at the authorization',
    { redirect: { code: undefined, error: 'unauthorized_client' } },
    { reason: 'client_refused', status: 503, reads: /does not accept this service/ },
  ],
  [
    'a scope that it does not know',
    { redirect: { code: undefined, error: 'invalid_scope' } },
    { reason: 'client_refused', status: 503, reads: /does not accept this service/ },
  ],
  [
    'too many requests at the token endpoint',
    { answers: { '/token': { status: 429, body: '{"error":"slow_down"}' } } },
    { reason: 'provider_busy', status: 503, reads: /too many requests/ },
  ],
  [
    'too many requests for its discovery document',
    { answers: { [DISCOVERY]: page(429) } },
    { reason: 'provider_busy', status: 503, reads: /too many requests/ },
  ],
  [
    'a page of a proxy instead of tokens',
    { answers: { '/token': page(200) } },
    { reason: 'provider_answer_unreadable', status: 503, reads: /something else answers in its place/ },
  ],
  [
    'a page of a proxy that refuses',
    { answers: { '/token': page(403) } },
    { reason: 'provider_answer_unreadable', status: 503, reads: /something else answers in its place/ },
  ],
  [
    'a page instead of the discovery document',
    { answers: { [DISCOVERY]: page(200) } },
    { reason: 'provider_answer_unreadable', status: 503, reads: /something else answers in its place/ },
  ],
  [
    'a page instead of keys',
    { answers: { '/jwks': page(200) } },
    { reason: 'provider_answer_unreadable', status: 503, reads: /something else answers in its place/ },
  ],
  [
    'a page although the header says JSON',
    { answers: { '/token': { status: 200, body: '<html>' } } },
    { reason: 'provider_answer_unreadable', status: 503, reads: /something else answers in its place/ },
  ],
  [
    'a redirected discovery',
    { answers: { [DISCOVERY]: { status: 301, body: '', headers: { location: 'https://other.example/' } } } },
    { reason: 'provider_redirects', status: 503, reads: /has moved/ },
  ],
  [
    'a redirected token endpoint',
    { answers: { '/token': { status: 307, body: '', headers: { location: 'https://other.example/' } } } },
    { reason: 'provider_redirects', status: 503, reads: /has moved/ },
  ],
  [
    'a failure of its own at the authorization',
    { redirect: { code: undefined, error: 'temporarily_unavailable' } },
    { reason: 'provider_unavailable', status: 503, reads: /Try again in a few minutes/ },
  ],
  [
    'a person who cancels',
    { redirect: { code: undefined, error: 'access_denied' } },
    { reason: 'provider_refused', status: 400, reads: /You cancelled/ },
  ],
];

describe('A login that a provider does not let through', () => {
  const { idp, service } = useBrokenProvider({ id: 'broken', label: 'Broken Company' });
  beforeEach(() => {
    idp.faults = {};
    const clients = service.app.get(ProviderClients, { strict: false });
    for (const each of clients.providers) clients.forget(each);
  });

  async function logIn(browser: BrowserSession): Promise<Page> {
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    const location = authorizationUrlIn(begun);
    return location ? browser.open(idp.callbackOf(location)) : begun;
  }

  /** Where the browser goes on: by a redirect, or by the link of a page. */
  const authorizationUrlIn = (begun: Page): string | undefined =>
    begun.headers.get('location') ??
    begun.html
      .querySelectorAll('a')
      .map((link) => link.getAttribute('href')?.replaceAll('&amp;', '&'))
      .find((href) => href?.startsWith(`${idp.url}/auth`));

  /** From the log: what ends before a sign-in was started is not recorded. */
  const lastReason = (): string | undefined =>
    service.log
      .map((line) => /Login through broken refused \((\w+)\)/.exec(line)?.[1])
      .findLast((reason) => reason !== undefined);

  it.each(CASES)('because of %s says so', async (_name, faults, { reason, status, reads }) => {
    idp.faults = faults;
    const counted = jest.spyOn(service.app.get(SignInLimitsService), 'countRefused');
    counted.mockClear();
    const answer = await logIn(new BrowserSession(service.url));
    // What the provider does is nobody's fault here, unless only the address that the browser opened says so.
    expect(counted).toHaveBeenCalledTimes(status === 503 && !faults.redirect ? 0 : 1);
    expect([lastReason(), answer.status]).toEqual([reason, status]);
    const text = answer.html.querySelector('main')!.text;
    expect(text).toMatch(reads);
    expect(text).toContain('You are not logged in.');
    if (reason !== 'provider_refused') expect(text).not.toMatch(/You cancelled|prove who you are/);
  });

  it.each(['ES256', 'PS256', 'EdDSA'])(
    'is let through when its signature algorithm has changed with its keys to %s',
    async (alg) => {
      await service.database.query('DELETE FROM identities');
      expect((await logIn(new BrowserSession(service.url))).headers.get('location')).toBe('/account');
      await idp.rotateKeys(alg);
      expect((await logIn(new BrowserSession(service.url))).headers.get('location')).toBe('/account');
    },
  );
});

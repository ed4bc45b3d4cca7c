import { ProviderClients } from '../../src/identity-providers/protocol/provider-clients.service.js';
import { BrokenIdentityProvider, type Faults } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo, type Page } from '../support/browser-session.js';
import { CLIENT_ID } from '../support/identity-provider.js';
import { HeldTimers } from '../support/held-timers.js';
import { useServiceWithProvider } from '../support/set-up.js';
import { until } from '../support/until.js';

const LONG_AGO = Math.floor(Date.now() / 1000) - 3600;

/** A fault, and the reason with which the login is refused. */
const REFUSED: Record<string, { faults: Faults; reason: string; status?: number }> = {
  'metadata of another issuer': {
    faults: { metadata: { issuer: 'https://other.example' } },
    reason: 'provider_answer_invalid',
  },
  'metadata without keys': {
    faults: { metadata: { jwks_uri: undefined } },
    reason: 'provider_answer_invalid',
  },
  'keys at an address that is not https': {
    faults: { metadata: { jwks_uri: 'http://keys.example/jwks' } },
    reason: 'provider_answer_invalid',
  },
  'another issuer in the ID token': {
    faults: { claims: { iss: 'https://other.example' } },
    reason: 'provider_answer_invalid',
  },
  'another nonce': { faults: { claims: { nonce: 'another' } }, reason: 'provider_answer_invalid' },
  'no nonce': { faults: { claims: { nonce: undefined } }, reason: 'provider_answer_invalid' },
  'another audience': { faults: { claims: { aud: 'another-client' } }, reason: 'provider_answer_invalid' },
  'a further audience without azp': {
    faults: { claims: { aud: [CLIENT_ID, 'another-client'] } },
    reason: 'provider_answer_invalid',
  },
  'the azp of another client': {
    faults: { claims: { azp: 'another-client' } },
    reason: 'provider_answer_invalid',
  },
  'an expired ID token': {
    faults: { claims: { iat: LONG_AGO, exp: LONG_AGO + 300 } },
    reason: 'provider_answer_invalid',
  },
  'an ID token without exp': { faults: { claims: { exp: undefined } }, reason: 'provider_answer_invalid' },
  'an ID token without iat': { faults: { claims: { iat: undefined } }, reason: 'provider_answer_invalid' },
  'an ID token without sub': { faults: { claims: { sub: undefined } }, reason: 'provider_answer_invalid' },
  'a subject that is too long': {
    faults: { claims: { sub: 'x'.repeat(256) } },
    reason: 'provider_answer_invalid',
  },
  'a signature by another key': { faults: { signature: 'another key' }, reason: 'provider_answer_invalid' },
  'a signature with the client secret': { faults: { signature: 'HS256' }, reason: 'provider_answer_invalid' },
  'a signature with the client secret, as announced': {
    faults: { signature: 'HS256', metadata: { id_token_signing_alg_values_supported: ['HS256'] } },
    reason: 'provider_answer_invalid',
  },
  'no signature': { faults: { signature: 'none' }, reason: 'provider_answer_invalid' },
  'no signature, as announced': {
    faults: { signature: 'none', metadata: { id_token_signing_alg_values_supported: ['none'] } },
    reason: 'provider_answer_invalid',
  },
  'no iss in the redirect': { faults: { redirect: { iss: undefined } }, reason: 'provider_answer_invalid' },
  'another iss in the redirect': {
    faults: { redirect: { iss: 'https://other.example' } },
    reason: 'provider_answer_invalid',
  },
  'another state': { faults: { redirect: { state: 'another' } }, reason: 'provider_answer_invalid' },
  'no code': { faults: { redirect: { code: undefined } }, reason: 'provider_answer_invalid' },
  'no ID token': {
    faults: {
      answers: { '/token': { status: 200, body: '{"access_token":"a","token_type":"Bearer"}' } },
    },
    reason: 'provider_answer_invalid',
  },
  'an answer that is not JSON': {
    faults: { answers: { '/token': { status: 200, body: 'Hello' } } },
    reason: 'provider_answer_unreadable',
    status: 503,
  },
  'an error in the redirect': {
    faults: { redirect: { code: undefined, error: 'access_denied' } },
    reason: 'provider_refused',
  },
  'an error of the token endpoint': {
    faults: { answers: { '/token': { status: 400, body: '{"error":"invalid_grant"}' } } },
    reason: 'provider_refused',
  },
  'a discovery that fails': {
    faults: { answers: { '/.well-known/openid-configuration': { status: 500, body: '{}' } } },
    reason: 'provider_unavailable',
    status: 503,
  },
  'a token endpoint that fails': {
    faults: { answers: { '/token': { status: 502, body: 'Bad gateway' } } },
    reason: 'provider_unavailable',
    status: 503,
  },
  'keys that cannot be read': {
    faults: { answers: { '/jwks': { status: 503, body: '{}' } } },
    reason: 'provider_unavailable',
    status: 503,
  },
  'an answer that is too long': {
    faults: { answers: { '/token': { status: 200, body: `"${'x'.repeat(600_000)}"` } } },
    reason: 'provider_unavailable',
    status: 503,
  },
  'an email address that is not verified': {
    faults: { claims: { email_verified: false } },
    reason: 'email_not_verified',
    status: 403,
  },
  'an email_verified that is another text than true': {
    faults: { claims: { email_verified: 'yes' } },
    reason: 'email_not_verified',
    status: 403,
  },
  'no email address': { faults: { claims: { email: undefined } }, reason: 'email_missing', status: 403 },
};

describe('A login through an identity provider', () => {
  const idp = new BrokenIdentityProvider();
  const service = useServiceWithProvider(idp, [
    { id: 'broken', label: 'Broken Company' },
    { id: 'gone', issuer: 'http://127.0.0.1:9' },
  ]);
  beforeEach(() => {
    idp.faults = {};
    const clients = service.app.get(ProviderClients, { strict: false });
    for (const each of clients.providers) clients.forget(each);
  });

  /** Presses the button, and comes back with what the provider answers. */
  async function logIn(browser: BrowserSession, id = 'broken'): Promise<Page> {
    const begun = await browser.submit(await browser.open('/login'), `/login/providers/${id}`);
    const location = leadsTo(begun);
    return location ? browser.open(idp.callbackOf(location)) : begun;
  }

  /** By the log: what belongs to no started sign-in is not in the audit log. */
  const lastRefusal = () => {
    const lines = service.log.flatMap((line) => [...line.matchAll(/Login through (\w+) refused \((\w+)\)/g)]);
    const [, provider, reason] = lines.at(-1) ?? [];
    return { provider, reason };
  };

  it('succeeds without a fault', async () => {
    const browser = new BrowserSession(service.url);
    expect((await logIn(browser)).headers.get('location')).toBe('/account');
    expect((await browser.open('/account')).status).toBe(200);
  });

  it.each(Object.entries(REFUSED))('is refused for %s', async (_name, { faults, reason, status = 400 }) => {
    await service.database.query('DELETE FROM identities');
    idp.faults = faults;
    const browser = new BrowserSession(service.url);
    const answer = await logIn(browser);
    expect([lastRefusal(), answer.status]).toEqual([{ provider: 'broken', reason }, status]);
    expect(answer.html.querySelector('a[href="/login"]')?.text).toBe('Go to the login page');
    expect((await browser.open('/account')).status).toBe(302);
    expect(await service.database.query('SELECT 1 FROM identities')).toEqual([]);
  });

  it('is refused for a provider that is not there', async () => {
    const answer = await logIn(new BrowserSession(service.url), 'gone');
    expect([lastRefusal(), answer.status]).toEqual([
      { provider: 'gone', reason: 'provider_unavailable' },
      503,
    ]);
  });

  it('is refused for a provider that does not answer within 10 seconds', async () => {
    idp.faults = { answers: { '/token': 'hang' } };
    const timers = HeldTimers.hold(10_000, 10_000, 'provider-fetch');
    try {
      const answer = logIn(new BrowserSession(service.url));
      await until('the token request waits', () => idp.requests.at(-1) === 'POST /token' && timers.count > 0);
      timers.letPass();
      expect((await answer).status).toBe(503);
      expect(lastRefusal()).toEqual({ provider: 'broken', reason: 'provider_unavailable' });
    } finally {
      timers.release();
    }
  });

  it('reads the keys again when the provider has another one', async () => {
    expect((await logIn(new BrowserSession(service.url))).status).toBe(303);
    await idp.rotateKeys();
    expect((await logIn(new BrowserSession(service.url))).headers.get('location')).toBe('/account');
  });

  it('works once: the same answer again is refused', async () => {
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    const callback = idp.callbackOf(leadsTo(begun)!);
    expect((await browser.open(callback)).status).toBe(303);
    const again = await browser.open(callback);
    expect([again.status, lastRefusal()]).toEqual([400, { provider: 'broken', reason: 'sign_in_expired' }]);
  });

  it('works once also when the same answer comes several times at once', async () => {
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    const callback = idp.callbackOf(leadsTo(begun)!);
    const answers = await Promise.all(Array.from({ length: 4 }, () => browser.open(callback)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400]);
  });

  it('is refused in another browser than the one in which it began', async () => {
    const begun = await (async (browser: BrowserSession) =>
      browser.submit(await browser.open('/login'), '/login/providers/broken'))(
      new BrowserSession(service.url),
    );
    const callback = idp.callbackOf(leadsTo(begun)!);
    expect((await new BrowserSession(service.url).open(callback)).status).toBe(400);
    expect(lastRefusal()).toEqual({ provider: 'broken', reason: 'sign_in_expired' });
  });

  it('is refused after 10 minutes', async () => {
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    await service.database.query("UPDATE provider_sign_ins SET expires_at = now() - interval '1 second'");
    expect((await browser.open(idp.callbackOf(leadsTo(begun)!))).status).toBe(400);
    expect(lastRefusal()).toEqual({ provider: 'broken', reason: 'sign_in_expired' });
  });

  it('is refused at the callback of another provider', async () => {
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    const callback = idp.callbackOf(leadsTo(begun)!).replace('/broken?', '/gone?');
    expect((await browser.open(callback)).status).toBe(400);
    expect(lastRefusal()).toEqual({ provider: 'gone', reason: 'sign_in_expired' });
  });

  it('asks with PKCE, state, nonce and the redirect URI, and stores none of its secrets', async () => {
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    const { searchParams: sent } = new URL(leadsTo(begun)!);
    expect(Object.fromEntries(sent)).toMatchObject({
      client_id: CLIENT_ID,
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      redirect_uri: `${service.url}/login/callback/broken`,
    });
    const [row] = await service.database.query<{ text: string }>(
      `SELECT string_agg(encode(sealed, 'escape') || encode(state_digest, 'escape') || encode(browser_digest, 'escape'), '') AS text
         FROM provider_sign_ins`,
    );
    const secrets = [sent.get('state')!, sent.get('nonce')!, browser.cookies.get('sign_in')!];
    for (const secret of secrets) expect(row!.text).not.toContain(secret);
    expect(service.log.join('\n')).not.toContain(secrets[2]);
  });

  it('leads to the provider by a page whose form, as every other, stays here', async () => {
    const browser = new BrowserSession(service.url);
    const page = await browser.open('/login');
    const begun = await browser.submit(page, '/login/providers/broken');
    expect([begun.status, begun.html.querySelector('main a')!.getAttribute('href')]).toEqual([
      200,
      leadsTo(begun),
    ]);
    for (const { headers } of [page, begun]) {
      expect(headers.get('content-security-policy')).toMatch(/form-action 'self'$/);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  it('is 404 for a provider that is not in the settings', async () => {
    expect((await new BrowserSession(service.url).open('/login/callback/unknown')).status).toBe(404);
  });
});

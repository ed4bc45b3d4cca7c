import { ProviderClients } from '#access/identity-providers/protocol/provider-clients.service.js';
import { SignInLimitsService } from '#access/rate-limits/sign-in/sign-in-limits.service.js';
import { BrokenIdentityProvider, type Faults } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo, postedAnew, type Page } from '../support/browser-session.js';
import { CLIENT_ID } from '../support/identity-provider.js';
import { HeldTimers } from '../support/held-timers.js';
import { madeOnce, until, useServiceWithProvider } from '../support/spec.js';
import { newAddress } from '../support/rate-limits.js';

const NOW = Math.floor(Date.now() / 1000);
const LONG_AGO = NOW - 3600;
const DISCOVERY = '/.well-known/openid-configuration';

type Claims = Record<string, unknown>;
const claims = (different: Claims): Faults => ({ claims: different });
const redirect = (different: Record<string, string | undefined>): Faults => ({ redirect: different });
const answer = (path: string, status: number, body: string, headers?: Record<string, string>): Faults => ({
  answers: { [path]: { status, body, headers } },
});
const page = (path: string, status: number): Faults =>
  answer(path, status, '<!doctype html><title>Proxy</title>', { 'content-type': 'text/html' });
const announced = (signature: 'HS256' | 'none'): Faults => ({
  signature,
  metadata: { id_token_signing_alg_values_supported: [signature] },
});

/** Faults for each of which a login is refused in this way. */
interface Refusal {
  reason: string;
  status: number;
  /** What the page says, in its heading or its text. */
  reads: RegExp;
  faults: Record<string, Faults>;
  /** What the log tells the operator of the first of them. */
  logs?: string;
}
const REFUSALS: Refusal[] = [
  {
    reason: 'provider_answer_invalid',
    status: 400,
    reads: /^The answer could not be accepted/,
    faults: {
      'another issuer in the ID token': claims({ iss: 'https://other.example' }),
      'an ID token issued in an hour': claims({ iat: NOW + 3600, exp: NOW + 7200 }),
      'an ID token issued in ten minutes': claims({ iat: NOW + 600, exp: NOW + 900 }),
      'someone who authenticates in an hour': claims({ auth_time: NOW + 3600 }),
      'another nonce': claims({ nonce: 'another' }),
      'no nonce': claims({ nonce: undefined }),
      'another audience': claims({ aud: 'another-client' }),
      'a further audience without azp': claims({ aud: [CLIENT_ID, 'another-client'] }),
      'the azp of another client': claims({ azp: 'another-client' }),
      'an expired ID token': claims({ iat: LONG_AGO, exp: LONG_AGO + 300 }),
      'an ID token without exp': claims({ exp: undefined }),
      'an ID token without iat': claims({ iat: undefined }),
      'an ID token without sub': claims({ sub: undefined }),
      'a subject that is too long': claims({ sub: 'x'.repeat(256) }),
      'a signature by another key': { signature: 'another key' },
      'a signature with the client secret': { signature: 'HS256' },
      'a signature with the client secret, as announced': announced('HS256'),
      'no signature': { signature: 'none' },
      'no signature, as announced': announced('none'),
      'no iss in the redirect': redirect({ iss: undefined }),
      'another iss in the redirect': redirect({ iss: 'https://other.example' }),
      'another state': redirect({ state: 'another' }),
      'no code': redirect({ code: undefined }),
      'no ID token': answer('/token', 200, '{"access_token":"a","token_type":"Bearer"}'),
    },
  },
  {
    reason: 'client_refused',
    status: 503,
    reads: /does not accept this service/,
    faults: {
      'wrong client credentials': answer('/token', 400, '{"error":"invalid_client"}'),
      'wrong client credentials, with 401 and a challenge': answer(
        '/token',
        401,
        '{"error":"invalid_client"}',
        { 'www-authenticate': 'Basic realm="Company"' },
      ),
      'wrong client credentials, with 401 and a page': page('/token', 401),
      'a client that may not use this grant': answer('/token', 400, '{"error":"unauthorized_client"}'),
      'a client unknown at the authorization': redirect({ code: undefined, error: 'unauthorized_client' }),
      'a scope that it does not know': redirect({ code: undefined, error: 'invalid_scope' }),
    },
  },
  {
    reason: 'provider_busy',
    status: 503,
    reads: /too many requests/,
    faults: {
      'too many requests at the token endpoint': answer('/token', 429, '{"error":"slow_down"}'),
      'too many requests for its discovery document': page(DISCOVERY, 429),
    },
  },
  {
    reason: 'provider_answer_unreadable',
    status: 503,
    reads: /something else answers in its place/,
    faults: {
      'a page of a proxy instead of tokens': page('/token', 200),
      'a page of a proxy that refuses': page('/token', 403),
      'a page instead of the discovery document': page(DISCOVERY, 200),
      'a page instead of keys': page('/jwks', 200),
      'a page although the header says JSON': answer('/token', 200, '<html>'),
    },
  },
  {
    reason: 'provider_redirects',
    status: 503,
    reads: /has moved/,
    faults: {
      'a redirected discovery': answer(DISCOVERY, 301, '', { location: 'https://other.example/' }),
      'a redirected token endpoint': answer('/token', 307, '', { location: 'https://other.example/' }),
    },
  },
  {
    reason: 'provider_unavailable',
    status: 503,
    reads: /Try again in a few minutes/,
    faults: {
      'a failure of its own at the authorization': redirect({
        code: undefined,
        error: 'temporarily_unavailable',
      }),
      'a discovery that fails': answer(DISCOVERY, 500, '{}'),
      'a token endpoint that fails': answer('/token', 502, 'Bad gateway'),
      'keys that cannot be read': answer('/jwks', 503, '{}'),
      'an answer that is too long': answer('/token', 200, `"${'x'.repeat(600_000)}"`),
    },
  },
  {
    reason: 'provider_refused',
    status: 400,
    reads: /You cancelled/,
    faults: {
      'a person who cancels': redirect({ code: undefined, error: 'access_denied' }),
      'an error of the token endpoint': answer('/token', 400, '{"error":"invalid_grant"}'),
    },
  },
  {
    reason: 'email_not_verified',
    status: 403,
    reads: /^Your email address is not verified/,
    faults: {
      'an email address that is not verified': claims({ email_verified: false }),
      'an email_verified that is another text than true': claims({ email_verified: 'yes' }),
    },
  },
  {
    reason: 'email_verification_unknown',
    status: 403,
    reads:
      /^Your email address could not be checked[\s\S]*Tell an operator of this service: trying again does not help\./,
    faults: {
      'an email address without a word about whether it is verified': claims({ email_verified: undefined }),
    },
    logs: 'the provider sends no email_verified, and its trust_email in IDENTITY_PROVIDERS does not cover this address',
  },
  {
    reason: 'provider_metadata_invalid',
    status: 503,
    reads: /nobody can log in through it/,
    faults: {
      'metadata of many tenants, whose issuer is a template': {
        metadata: { issuer: 'https://login.example/{tenantid}/v2.0' },
      },
    },
    logs: 'the metadata name a template of issuers with a placeholder: issuer in IDENTITY_PROVIDERS must be the address of one tenant',
  },
  {
    reason: 'provider_metadata_invalid',
    status: 503,
    reads: /nobody can log in through it/,
    faults: {
      'metadata of another issuer': { metadata: { issuer: 'https://other.example/' } },
      'metadata without keys': { metadata: { jwks_uri: undefined } },
      'keys at an address that is not https': { metadata: { jwks_uri: 'http://keys.example/jwks' } },
    },
    logs: 'the metadata name another issuer: write issuer in IDENTITY_PROVIDERS as they do',
  },
  {
    reason: 'email_missing',
    status: 403,
    reads: /^Your email address is needed/,
    faults: { 'no email address': claims({ email: undefined }) },
  },
];
const CASES = REFUSALS.flatMap(({ faults, ...refusal }) =>
  Object.entries(faults).map(([name, fault]) => [name, fault, refusal] as const),
);

describe('A login through an identity provider', () => {
  const idp = new BrokenIdentityProvider();
  const service = useServiceWithProvider(
    idp,
    [
      { id: 'broken', label: 'Broken Company' },
      { id: 'gone', issuer: 'http://127.0.0.1:9' },
      { id: 'trusted', label: 'Trusted Company', trust_email: true },
      {
        id: 'roles',
        audience: ['users', 'operators'],
        accounts: 'create',
        role_claim: 'realm_access.roles',
        roles: { helpers: 'support', admins: 'admin' },
      },
    ],
    { env: { TRUSTED_PROXIES: '127.0.0.1' } },
  );
  beforeEach(() => {
    idp.faults = {};
    const clients = service.app.get(ProviderClients, { strict: false });
    for (const each of clients.providers) clients.forget(each);
  });

  const begin = async (browser: BrowserSession): Promise<Page> =>
    browser.submit(await browser.open('/login'), '/login/providers/broken');
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

  describe('is refused', () => {
    const browser = madeOnce(() => new BrowserSession(service.url, { 'x-forwarded-for': newAddress() }));
    const login = madeOnce(() => browser.open('/login'));
    /** As in a new browser: what is refused leaves nothing in it but a failed login. */
    const answerWith = async (faults: Faults): Promise<Page> => {
      idp.faults = faults;
      const begun = await browser.submit(login, '/login/providers/broken', postedAnew());
      const location = leadsTo(begun);
      return location ? browser.open(idp.callbackOf(location)) : begun;
    };

    it.each(CASES)('for %s, and the page says so', async (_name, faults, { reason, status, reads, logs }) => {
      await service.database.query('DELETE FROM identities');
      const counted = jest.spyOn(service.app.get(SignInLimitsService), 'countRefused');
      counted.mockClear();
      const refused = await answerWith(faults);
      // What the provider does is nobody's fault here, unless only the address that the browser opened says so.
      if (status === 503) expect(counted).toHaveBeenCalledTimes(faults.redirect ? 1 : 0);
      if (reason === 'provider_refused') expect(counted).toHaveBeenCalledTimes(1);
      expect([lastRefusal(), refused.status]).toEqual([{ provider: 'broken', reason }, status]);
      if (logs) expect(service.log.join('')).toContain(`refused (${reason}): ${logs}`);
      const text = refused.html.querySelector('main')!.text.trim();
      expect(text).toMatch(reads);
      if (status !== 403) expect(text).toContain('You are not logged in.');
      if (status === 503) expect(text).not.toMatch(/You cancelled|prove who you are/);
      expect(refused.html.querySelector('a[href="/login"]')?.text).toBe('Go to the login page');
      expect(browser.cookies.has('cds_session')).toBe(false);
      expect(await service.database.query('SELECT 1 FROM identities')).toEqual([]);
    });
  });

  it.each(['ES256', 'PS256', 'EdDSA'])(
    'goes on when the signature algorithm of the provider has changed with its keys to %s',
    async (alg) => {
      expect((await logIn(new BrowserSession(service.url))).headers.get('location')).toBe('/account');
      await idp.rotateKeys(alg);
      expect((await logIn(new BrowserSession(service.url))).headers.get('location')).toBe('/account');
    },
  );

  it('works if the clock of the provider is a few seconds ahead', async () => {
    const soon = Math.floor(Date.now() / 1000) + 10;
    // Within the 30 s of contract §15, by more than a slow machine takes.
    idp.faults = { claims: { iat: soon, exp: soon + 600, auth_time: soon } };
    expect((await logIn(new BrowserSession(service.url))).headers.get('location')).toBe('/account');
  });

  // How the claims are read: test/unit/provider-person.spec.ts.
  it('makes an account with the address and the role that the userinfo endpoint tells', async () => {
    const userinfo = { sub: 'told', email: 'told@mail.example', email_verified: true };
    const body = JSON.stringify({ ...userinfo, realm_access: { roles: ['helpers', 'admins'] } });
    idp.faults = {
      claims: { sub: 'told', email: undefined, email_verified: undefined },
      metadata: { userinfo_endpoint: `${idp.url}/userinfo` },
      answers: { '/userinfo': { status: 200, body } },
    };
    expect((await logIn(new BrowserSession(service.url), 'roles')).headers.get('location')).toBe('/account');
    const made = await service.database.query(
      'SELECT email, operator_role FROM users JOIN identities ON users.id = user_id WHERE subject = $1',
      ['told'],
    );
    expect(made).toEqual([{ email: userinfo.email, operator_role: 'admin' }]);
  });

  it('of a person who does not share an email address says so, not that it is unverified, and works once it is shared', async () => {
    const claims = { sub: 'sharing', email_verified: undefined };
    idp.faults = { claims: { ...claims, email: undefined } };
    const page = await logIn(new BrowserSession(service.url), 'trusted');
    expect([page.status, page.html.querySelector('h1')?.text]).toEqual([403, 'Your email address is needed']);
    expect(page.html.text).toContain('allow Trusted Company to share your address');
    expect(service.log.join('\n')).toContain(
      'Login through trusted refused (email_missing): no email address',
    );
    idp.faults = { claims: { ...claims, email: 'sharing@mail.example' } };
    expect((await logIn(new BrowserSession(service.url), 'trusted')).headers.get('location')).toBe(
      '/account',
    );
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
    const callback = idp.callbackOf(leadsTo(await begin(browser))!);
    expect((await browser.open(callback)).status).toBe(303);
    const again = await browser.open(callback);
    expect([again.status, lastRefusal()]).toEqual([400, { provider: 'broken', reason: 'sign_in_expired' }]);
  });

  it('works once also when the same answer comes several times at once', async () => {
    const browser = new BrowserSession(service.url);
    const callback = idp.callbackOf(leadsTo(await begin(browser))!);
    const answers = await Promise.all(Array.from({ length: 4 }, () => browser.open(callback)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400]);
  });

  it('is refused in another browser than the one in which it began', async () => {
    const callback = idp.callbackOf(leadsTo(await begin(new BrowserSession(service.url)))!);
    expect((await new BrowserSession(service.url).open(callback)).status).toBe(400);
    expect(lastRefusal()).toEqual({ provider: 'broken', reason: 'sign_in_expired' });
  });

  it('is refused after 10 minutes', async () => {
    const browser = new BrowserSession(service.url);
    const begun = await begin(browser);
    await service.database.query("UPDATE provider_sign_ins SET expires_at = now() - interval '1 second'");
    expect((await browser.open(idp.callbackOf(leadsTo(begun)!))).status).toBe(400);
    expect(lastRefusal()).toEqual({ provider: 'broken', reason: 'sign_in_expired' });
  });

  it('is refused at the callback of another provider', async () => {
    const browser = new BrowserSession(service.url);
    const callback = idp.callbackOf(leadsTo(await begin(browser))!).replace('/broken?', '/gone?');
    expect((await browser.open(callback)).status).toBe(400);
    expect(lastRefusal()).toEqual({ provider: 'gone', reason: 'sign_in_expired' });
  });

  it('asks with PKCE, state, nonce and the redirect URI, and stores none of its secrets', async () => {
    const browser = new BrowserSession(service.url);
    const { searchParams: sent } = new URL(leadsTo(await begin(browser))!);
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
    const secrets = [sent.get('state')!, sent.get('nonce')!, browser.cookies.get('cds_sign_in')!];
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

import { ProviderClients } from '../../src/identity-providers/protocol/provider-clients.service.js';
import { BrokenIdentityProvider, type Faults } from '../support/broken-identity-provider.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { CLIENT_ID } from '../support/identity-provider.js';
import { HeldTimers } from '../support/held-timers.js';
import { useServiceWithProvider } from '../support/set-up.js';
import { until } from '../support/until.js';

const LONG_AGO = Math.floor(Date.now() / 1000) - 3600;

const errorOf = (path: string, status: number, body: string): Faults => ({
  answers: { [path]: { status, body } },
});

/** Faults, by the reason with which the login is then refused. */
const REFUSED: [reason: string, status: number, faults: Record<string, Faults>][] = [
  [
    'provider_answer_invalid',
    400,
    {
      'metadata of another issuer': { metadata: { issuer: 'https://other.example' } },
      'metadata without keys': { metadata: { jwks_uri: undefined } },
      'keys at an address that is not https': { metadata: { jwks_uri: 'http://keys.example/jwks' } },
      'another issuer in the ID token': { claims: { iss: 'https://other.example' } },
      'another nonce': { claims: { nonce: 'another' } },
      'no nonce': { claims: { nonce: undefined } },
      'another audience': { claims: { aud: 'another-client' } },
      'a further audience without azp': { claims: { aud: [CLIENT_ID, 'another-client'] } },
      'the azp of another client': { claims: { azp: 'another-client' } },
      'an expired ID token': { claims: { iat: LONG_AGO, exp: LONG_AGO + 300 } },
      'an ID token without exp': { claims: { exp: undefined } },
      'an ID token without iat': { claims: { iat: undefined } },
      'an ID token without sub': { claims: { sub: undefined } },
      'a subject that is too long': { claims: { sub: 'x'.repeat(256) } },
      'a signature by another key': { signature: 'another key' },
      'a signature with the client secret': { signature: 'HS256' },
      'a signature with the client secret, as announced': {
        signature: 'HS256',
        metadata: { id_token_signing_alg_values_supported: ['HS256'] },
      },
      'no signature': { signature: 'none' },
      'no signature, as announced': {
        signature: 'none',
        metadata: { id_token_signing_alg_values_supported: ['none'] },
      },
      'no iss in the redirect': { redirect: { iss: undefined } },
      'another iss in the redirect': { redirect: { iss: 'https://other.example' } },
      'another state': { redirect: { state: 'another' } },
      'no code': { redirect: { code: undefined } },
      'no ID token': errorOf('/token', 200, '{"access_token":"a","token_type":"Bearer"}'),
      'an answer that is not JSON': errorOf('/token', 200, 'Hello'),
    },
  ],
  [
    'provider_refused',
    400,
    {
      'an error in the redirect': { redirect: { code: undefined, error: 'access_denied' } },
      'an error of the token endpoint': errorOf('/token', 400, '{"error":"invalid_grant"}'),
    },
  ],
  [
    'provider_unavailable',
    503,
    {
      'a discovery that fails': errorOf('/.well-known/openid-configuration', 500, '{}'),
      'a token endpoint that fails': errorOf('/token', 502, 'Bad gateway'),
      'keys that cannot be read': errorOf('/jwks', 503, '{}'),
      'an answer that is too long': errorOf('/token', 200, `"${'x'.repeat(600_000)}"`),
    },
  ],
  [
    'email_not_verified',
    403,
    {
      'an email address that is not verified': { claims: { email_verified: false } },
      'an email_verified that is a text': { claims: { email_verified: 'true' } },
      'no email address': { claims: { email: undefined } },
    },
  ],
];

describe('A login through an identity provider', () => {
  const idp = new BrokenIdentityProvider();
  const service = useServiceWithProvider(idp, [
    { id: 'broken' },
    { id: 'gone', issuer: 'http://127.0.0.1:9' },
  ]);
  let browser: BrowserSession;
  beforeEach(() => {
    browser = new BrowserSession(service.url);
    idp.faults = {};
    const clients = service.app.get(ProviderClients, { strict: false });
    for (const each of clients.providers) clients.forget(each);
  });

  /** Presses the button, and comes back with what the provider answers. */
  async function logIn(id = 'broken'): Promise<Page> {
    const begun = await browser.submit(await browser.open('/login'), `/login/providers/${id}`);
    const location = begun.headers.get('location');
    return location ? browser.open(idp.callbackOf(location)) : begun;
  }

  /** Expects a refusal with this status and reason. */
  const expectRefused = async (
    { status }: Page,
    ...[expected, reason, provider = 'broken']: [number, string, string?]
  ) => {
    const [row] = await service.database.query<{ after: object }>(
      "SELECT after FROM audit_events WHERE action = 'session.refused' ORDER BY id DESC LIMIT 1",
    );
    expect([row?.after, status]).toEqual([{ provider, reason }, expected]);
  };

  it('succeeds without a fault', async () => {
    expect((await logIn()).headers.get('location')).toBe('/');
    expect((await browser.open('/account')).status).toBe(200);
  });

  it.each(
    REFUSED.flatMap(([reason, status, cases]) =>
      Object.entries(cases).map(([name, faults]) => ({ name, faults, reason, status })),
    ),
  )('is refused for $name', async ({ faults, reason, status }) => {
    await service.database.query('DELETE FROM identities');
    idp.faults = faults;
    const answer = await logIn();
    await expectRefused(answer, status, reason);
    expect(answer.html.querySelector('a[href="/login"]')?.text).toBe('Go to the login page');
    expect((await browser.open('/account')).status).toBe(302);
    expect(await service.database.query('SELECT 1 FROM identities')).toEqual([]);
  });

  it('is refused for a provider that is not there', async () => {
    await expectRefused(await logIn('gone'), 503, 'provider_unavailable', 'gone');
  });

  it('is refused for a provider that does not answer within 10 seconds', async () => {
    idp.faults = { answers: { '/token': 'hang' } };
    const timers = HeldTimers.hold(10_000, 10_000, 'provider-fetch');
    try {
      const answer = logIn();
      await until('the token request waits', () => idp.requests.at(-1) === 'POST /token' && timers.count > 0);
      timers.letPass();
      await expectRefused(await answer, 503, 'provider_unavailable');
    } finally {
      timers.release();
    }
  });

  it('reads the keys again when the provider has another one', async () => {
    expect((await logIn()).status).toBe(303);
    await idp.rotateKeys();
    browser = new BrowserSession(service.url);
    expect((await logIn()).headers.get('location')).toBe('/');
  });

  it('works once: the same answer again is refused', async () => {
    const callback = await idp.toCallback(browser, 'broken');
    expect((await browser.open(callback)).status).toBe(303);
    await expectRefused(await browser.open(callback), 400, 'sign_in_expired');
  });

  it('works once also when the same answer comes several times at once', async () => {
    const callback = await idp.toCallback(browser, 'broken');
    const answers = await Promise.all(Array.from({ length: 4 }, () => browser.open(callback)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400]);
  });

  it('is refused in another browser than the one in which it began', async () => {
    const callback = await idp.toCallback(new BrowserSession(service.url), 'broken');
    await expectRefused(await browser.open(callback), 400, 'sign_in_expired');
  });

  it('is refused after 10 minutes', async () => {
    const callback = await idp.toCallback(browser, 'broken');
    await service.database.query("UPDATE provider_sign_ins SET expires_at = now() - interval '1 second'");
    await expectRefused(await browser.open(callback), 400, 'sign_in_expired');
  });

  it('is refused at the callback of another provider', async () => {
    const callback = (await idp.toCallback(browser, 'broken')).replace('/broken?', '/gone?');
    await expectRefused(await browser.open(callback), 400, 'sign_in_expired', 'gone');
  });

  it('asks with PKCE, state, nonce and the redirect URI', async () => {
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/broken');
    const { searchParams: sent } = new URL(begun.headers.get('location')!);
    expect(Object.fromEntries(sent)).toMatchObject({
      client_id: CLIENT_ID,
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      state: expect.stringMatching(/./),
      nonce: expect.stringMatching(/./),
      redirect_uri: `${service.url}/login/callback/broken`,
    });
  });

  it('allows its form to lead to the provider', async () => {
    const { headers } = await browser.open('/login');
    expect(headers.get('content-security-policy')).toMatch(new RegExp(`form-action 'self'[^;]* ${idp.url}`));
  });

  it('is 404 for a provider that is not in the settings', async () => {
    expect((await browser.open('/login/callback/unknown')).status).toBe(404);
  });
});

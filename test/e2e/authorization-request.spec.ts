import type { ClientEntity } from '#access/clients/client.entity.js';
import { type Answer, authorizePath, madeOnce, useSharedService } from '../support/spec.js';
import { newPkce, REDIRECT_URI } from '../support/factory.js';
import { listOf } from '../support/list-of.js';

type Parameters = Record<string, string | undefined>;

const STATE = 'a state/with+signs & umläuts="1"';
const PUBLIC_URI = 'com.example.app:/callback';
const LOOPBACK_URIS = ['http://127.0.0.1/cb', 'http://[::1]:7000/cb', 'http://localhost:8000/cb'];

const UNDECODABLE = ['%00', 'a%00b', '%', '%zz', '%C3%28', '%ED%A0%80', '%FF'];
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' OR '1'='1",
  "'; DROP TABLE clients; --",
  'x\r\nSet-Cookie: session=1',
  '\u202e\ufeff${7*7}{{7*7}}',
];
let turn = 0;
/** Two of these texts, and the next time others; test/properties/endpoints.ts has such texts in any place. */
const nextOf = (texts: string[]): string[] => [turn++, turn + 2].map((n) => texts[n % texts.length]!);

describe('An authorization request', () => {
  const service = useSharedService();
  const { challenge } = newPkce();

  const client = madeOnce(() => service.make.client({ scopes: ['charging_session:read'] }));
  const app = madeOnce(() =>
    service.make.client({ type: 'public', redirectUris: [PUBLIC_URI, ...LOOPBACK_URIS] }),
  );
  const codeless = madeOnce(() => service.make.client({ grantTypes: ['client_credentials'] }));

  const good = (changes: Parameters = {}): Parameters => ({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    state: STATE,
    ...changes,
  });
  const goodOfApp = (changes: Parameters = {}): Parameters =>
    good({
      client_id: app.id,
      redirect_uri: PUBLIC_URI,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    });
  const ask = (parameters: Parameters, more = '') =>
    service.http.get(authorizePath(parameters) + more, { headers: { accept: 'text/html' } });

  const expectPage = (answer: Answer) => {
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.text).not.toContain('<script');
  };
  const expectRefusal = (
    answer: Answer,
    error: string,
    { state = STATE, uri = REDIRECT_URI }: { state?: string | null; uri?: string } = {},
  ) => {
    const location = answer.headers.get('location') ?? '';
    expect({ status: answer.status, there: location.startsWith(`${uri}?`) }).toEqual({
      status: 302,
      there: true,
    });
    const parameters = new URLSearchParams(location.slice(location.indexOf('?')));
    expect(parameters.get('error')).toBe(error);
    expect(parameters.get('state')).toBe(state);
    expect(parameters.get('iss')).toBe(service.settings.baseUrl);
    expect(parameters.has('code')).toBe(false);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  };
  const expectLogin = (answer: Answer) => {
    expect({ status: answer.status, location: answer.headers.get('location')?.split('=')[0] }).toEqual({
      status: 302,
      location: '/login?return_to',
    });
  };

  describe('without a valid client and redirect URI is answered with a page, never a redirect:', () => {
    it.each([
      ['no client_id', { client_id: undefined }],
      ['an empty client_id', { client_id: '' }],
      ['an unknown client_id', { client_id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735' }],
      ['a malformed client_id', { client_id: 'northwind' }],
      ['no redirect_uri', { redirect_uri: undefined }],
      ['an empty redirect_uri', { redirect_uri: '' }],
      ['a redirect_uri that is not registered', { redirect_uri: 'https://evil.example/callback' }],
    ])('with %s', async (_what, changes) => expectPage(await ask(good(changes))));

    it('with a disabled client', async () => {
      const disabled = await service.make.client();
      await service.make.updateClient(disabled, { enabled: false });
      expectPage(await ask(good({ client_id: disabled.id })));
    });

    it("with another client's redirect_uri", async () => {
      await service.make.client({ redirectUris: ['https://other.example/callback'] });
      expectPage(await ask(good({ redirect_uri: 'https://other.example/callback' })));
    });

    it.each(['client_id', 'redirect_uri'])('with %s twice, even with the same value', async (name) => {
      const value = good()[name]!;
      expectPage(await ask(good(), `&${new URLSearchParams({ [name]: value }).toString()}`));
      expectPage(await ask(good(), `&${name}=`));
    });

    it('without any parameters, whatever is accepted', async () => {
      expectPage(await service.http.get('/o/authorize'));
      expectPage(await service.http.get('/o/authorize', { headers: { accept: 'application/json' } }));
    });
  });

  it.each(['/o/authorize', '/o/authorize/'])('is checked at %s', async (path) => {
    const query = authorizePath(good({ response_type: 'token' })).split('?')[1]!;
    expectRefusal(await service.http.get(`${path}?${query}`), 'unsupported_response_type');
  });

  describe('is redirected with', () => {
    it.each([
      ['invalid_request', { response_type: undefined }],
      ['invalid_request', { response_type: '' }],
      ['unsupported_response_type', { response_type: 'token' }],
      ['unsupported_response_type', { response_type: 'Code' }],
      ['unsupported_response_type', { response_type: 'code id_token' }],
      ['invalid_request', { response_mode: 'fragment' }],
      ['invalid_request', { response_mode: 'form_post' }],
      ['invalid_request', { response_mode: 'Query' }],
      ['invalid_scope', { scope: 'vehicle:read' }],
      ['invalid_scope', { scope: 'charging_session:read vehicle:read' }],
      ['invalid_scope', { scope: 'charging_session:read  charging_session:read' }],
      ['invalid_scope', { scope: 'CHARGING_SESSION:READ' }],
      ['invalid_scope', { scope: 'admin:read' }],
      ['invalid_request', { code_challenge: challenge }],
      ['invalid_request', { code_challenge: challenge, code_challenge_method: 'plain' }],
      ['invalid_request', { code_challenge: challenge, code_challenge_method: 's256' }],
      ['invalid_request', { code_challenge: challenge.slice(1), code_challenge_method: 'S256' }],
      ['invalid_request', { code_challenge: `${challenge}=`, code_challenge_method: 'S256' }],
      ['invalid_request', { code_challenge: `${challenge.slice(1)}+`, code_challenge_method: 'S256' }],
    ])('%s for %j', async (error, changes) => expectRefusal(await ask(good(changes)), error));

    it('unauthorized_client for a client without the authorization code grant', async () => {
      expectRefusal(await ask(good({ client_id: codeless.id })), 'unauthorized_client');
    });

    it('invalid_request for a public client without a challenge', async () => {
      const without = { code_challenge: undefined, code_challenge_method: undefined };
      expectRefusal(await ask(goodOfApp(without)), 'invalid_request', { uri: PUBLIC_URI });
      expectRefusal(await ask(goodOfApp({ code_challenge: '' })), 'invalid_request', { uri: PUBLIC_URI });
    });

    it('no state if none was given', async () => {
      const answer = await ask(good({ state: undefined, response_type: 'token' }));
      expectRefusal(answer, 'unsupported_response_type', { state: null });
    });
  });

  it.each(
    listOf(`
    response_type=code, scope=charging_session%3Aread, code_challenge=x, something=1&something=2
  `),
  )('with a repeated parameter (%s) is redirected with invalid_request', async (extra) => {
    const parameters = good({ scope: 'charging_session:read', code_challenge: 'x' });
    expectRefusal(await ask(parameters, `&${extra}`), 'invalid_request');
  });

  it('with a repeated state is redirected with invalid_request and without a state', async () => {
    expectRefusal(await ask(good(), '&state=another'), 'invalid_request', { state: null });
    expectRefusal(await ask(good(), `&state=`), 'invalid_request', { state: null });
  });

  it('with several errors is refused for the first one in the order of the checks', async () => {
    const pkce = { code_challenge: 'short' };
    const scope = { ...pkce, scope: 'admin:read' };
    const grant = { ...scope, client_id: codeless.id };
    const responseMode = { ...grant, response_mode: 'fragment' };
    const responseType = { ...responseMode, response_type: 'token' };
    expectRefusal(await ask(good(pkce)), 'invalid_request');
    expectRefusal(await ask(good(scope)), 'invalid_scope');
    expectRefusal(await ask(good(grant)), 'unauthorized_client');
    expectRefusal(await ask(good(responseMode)), 'invalid_request');
    expectRefusal(await ask(good(responseType)), 'unsupported_response_type');
    expectRefusal(await ask(good(responseType), '&scope=x'), 'invalid_request');
    expectPage(await ask(good({ ...responseType, redirect_uri: 'https://evil.example/' }), '&scope=x'));
    expectPage(await ask(good(responseType), '&scope=x&client_id=x'));
  });

  it('is accepted with response_mode=query, the only supported mode', async () => {
    const [plain, named] = [await ask(good()), await ask(good({ response_mode: 'query' }))];
    expect(named.status).toBe(plain.status);
    expect(named.headers.get('location')).toMatch(/^\/login\?/);
  });

  describe('with the redirect URI', () => {
    // test/unit/redirect-uri.spec.ts has every way to resemble one.
    it.each([
      'https://APP.example/callback',
      'https://app.example:443/callback',
      'https://app.example/callback/',
      'https://app.example/callback ',
      'https://app.example/callback\n',
      'https://app.example@evil.example/callback',
    ])('%j is refused, because it is not exactly the registered one', async (uri) =>
      expectPage(await ask(good({ redirect_uri: uri }))),
    );

    it.each(['http://localhost:8001/cb', 'http://127.0.0.1:49152/other', 'com.example.app://callback'])(
      '%j of an app on the device is refused, because it is not registered',
      async (uri) => expectPage(await ask(goodOfApp({ redirect_uri: uri }))),
    );

    it.each([
      'http://127.0.0.1:49152/cb',
      'http://127.0.0.1/cb',
      'http://[::1]:49152/cb',
      'http://[::1]/cb',
      'http://localhost:8000/cb',
      PUBLIC_URI,
    ])('%s is accepted, and refusals are sent to exactly that URI', async (uri) => {
      expectLogin(await ask(goodOfApp({ redirect_uri: uri })));
      const answer = await ask(goodOfApp({ redirect_uri: uri, response_type: 'token' }));
      expectRefusal(answer, 'unsupported_response_type', { uri });
    });

    it.each([
      ['https://app.example/cb?tenant=1', 'https://app.example/cb?tenant=1&'],
      ['https://app.example/cb?tenant=%C3%A4&x=a%20b', 'https://app.example/cb?tenant=%C3%A4&x=a%20b&'],
      ['https://app.example/cb?', 'https://app.example/cb?'],
    ])('%s keeps the query of that URI', async (uri, start) => {
      const withQuery: ClientEntity = await service.make.client({ redirectUris: [uri] });
      const parameters = good({ client_id: withQuery.id, redirect_uri: uri });
      const refusal = (await ask({ ...parameters, scope: 'x' })).headers.get('location')!;
      expect(refusal.startsWith(`${start}error=invalid_scope&`)).toBe(true);
      const browser = await service.make.signedInNew();
      const page = await browser.open(authorizePath(parameters));
      const answer = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
      const location = answer.headers.get('location')!;
      expect(location.startsWith(`${start}code=`)).toBe(true);
      expect(new URL(location).searchParams.get('state')).toBe(STATE);
      expect(new URL(location).searchParams.get('iss')).toBe(service.settings.baseUrl);
    });
  });

  describe.each(
    listOf(`
    client_id, redirect_uri, response_type, scope, state, code_challenge, code_challenge_method, something
  `),
  )('with hostile text in %s', (name) => {
    const withText = (text: string) => {
      const rest = authorizePath(good({ [name]: undefined, code_challenge_method: undefined }));
      return service.http.get(`${rest}&${name}=${text}`);
    };

    it('is answered with a page if it cannot be decoded', async () => {
      for (const text of nextOf(UNDECODABLE)) expectPage(await withText(text));
    });

    it('never gets it echoed unescaped, and causes no error', async () => {
      for (const text of nextOf(HOSTILE)) {
        const answer = await withText(encodeURIComponent(text));
        expect([302, 400]).toContain(answer.status);
        if (name === 'client_id' || name === 'redirect_uri') expectPage(answer);
        expect(answer.text).not.toContain(text);
        expect(answer.headers.get('location') ?? '').not.toMatch(/[\s<>"]/);
        expect(answer.headers.getSetCookie()).toEqual([]);
      }
      expectLogin(await ask(good()));
    });
  });

  it('gets a very long state back, but is refused without a redirect above the header limit', async () => {
    const state = 'ä'.repeat(1000) + 's'.repeat(4000);
    const browser = await service.make.signedInNew();
    expect((await browser.authorize(good({ state }))).searchParams.get('state')).toBe(state);
    const tooLong = await ask(good({ state: 's'.repeat(20_000) }));
    expect({ status: tooLong.status, location: tooLong.headers.get('location') }).toEqual({
      status: 431,
      location: null,
    });
  });
});

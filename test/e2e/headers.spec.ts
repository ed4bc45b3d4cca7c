import { request } from 'node:http';
import { type Answer, type HttpOptions, madeOnce, REDIRECT_URI, useSharedService } from '../support/spec.js';
import { rawRequest, sendRaw } from '../support/raw-http.js';
import { authorizePath, type BrowserSession } from '../support/browser-session.js';
import { listOf } from '../support/list-of.js';

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

describe('Response headers:', () => {
  const service = useSharedService();
  const partner = madeOnce(() => service.make.client());
  let token: string;
  let admin: string;
  let browser: BrowserSession;

  beforeAll(async () => {
    token = await service.make.clientToken(partner);
    admin = await service.make.adminToken();
    browser = await service.make.signedIn(await service.make.user());
  });

  /** Requests every kind of answer with these headers. */
  const kinds: [string, (headers: Record<string, string>) => Promise<Pick<Answer, 'status' | 'headers'>>][] =
    [
      ['a page', (headers) => send('/login', { headers })],
      ['a page for a signed-in user', (headers) => browser.open(consent(), { headers })],
      ['an error page', (headers) => send('/o/authorize', { headers })],
      ['a page that is gone', (headers) => send('/portal/login/nothing', { headers })],
      ['a page without a session', (headers) => send('/portal', { headers })],
      ['a redirect', (headers) => send(consent(), { headers })],
      ['an asset', (headers) => send('/assets/app.css', { headers })],
      ['JSON', (headers) => send('/.well-known/oauth-authorization-server', { headers })],
      ['tokens', (headers) => send('/o/token', { headers, form: credentials() })],
      ['an OAuth error', (headers) => send('/o/token', { headers, form: { grant_type: 'x' } })],
      [
        'an empty answer',
        (headers) => send('/o/revoke_token/', { headers, form: { ...credentials(), token: 'x' } }),
      ],
      ['a list', (headers) => send('/v2/users', { headers, bearer: token })],
      ['HEAD', (headers) => send('/webhook_portal', { headers, bearer: token, method: 'HEAD' })],
      ['204', (headers) => deleteUser(headers)],
      [
        'a preflight',
        (headers) => send('/o/token', { headers: { ...preflight, ...headers }, method: 'OPTIONS' }),
      ],
      ['health', (headers) => send('/health/ready', { headers })],
      ['400', (headers) => send('/admin/users', { headers, bearer: admin, json: {} })],
      ['401', (headers) => send('/v2/users', { headers })],
      ['403', (headers) => send('/admin/users', { headers, bearer: token })],
      ['404', (headers) => send('/nothing', { headers })],
      ['404 for a browser', (headers) => send('/nothing', { headers: { accept: 'text/html', ...headers } })],
      ['405', (headers) => send('/o/token', { headers })],
      ['413', (headers) => send('/o/token', { headers, form: { a: 'x'.repeat(70_000) } })],
      ['415', (headers) => send('/admin/users', { headers, bearer: admin, form: { a: 'b' } })],
      [
        'an address that cannot be decoded',
        (headers) => sendRaw(service.url, rawRequest('GET /%zz', headers)),
      ],
      ['a path member that is too long', (headers) => send(`/v2/users/${'x'.repeat(3000)}`, { headers })],
      [
        'an expectation that is not known',
        (headers) => sendRaw(service.url, rawRequest('GET /health/live', { Expect: 'x', ...headers })),
      ],
      [
        'no Host header',
        (headers) => {
          const request = rawRequest('GET /v2/users', headers);
          return sendRaw(service.url, request.replace(/^Host: .*\r\n/m, ''));
        },
      ],
      [
        'two Host headers',
        (headers) => sendRaw(service.url, rawRequest('GET /v2/users', { host: 'two.example', ...headers })),
      ],
      [
        'two Host headers on a page',
        (headers) => sendRaw(service.url, rawRequest('GET /login', { host: 'two.example', ...headers })),
      ],
    ];
  const preflight = { origin: 'https://spa.example', 'access-control-request-method': 'POST' };

  const send = (path: string, options: HttpOptions = {}) => service.http.send(path, options);
  const credentials = () => ({
    grant_type: 'client_credentials',
    client_id: partner.id,
    client_secret: partner.secret,
  });
  const consent = () =>
    authorizePath({ response_type: 'code', client_id: partner.id, redirect_uri: REDIRECT_URI });

  async function deleteUser(headers: Record<string, string>): Promise<Answer> {
    const user = await service.make.user();
    const answer = await send(`/admin/users/${user.id}`, { method: 'DELETE', bearer: admin, headers });
    expect(answer.status).toBe(204);
    return answer;
  }

  describe('X-Request-Id', () => {
    it.each([
      ['empty', ''],
      ['too long', 'x'.repeat(129)],
      ['with a space', 'one two'],
      ['with markup', '<script>alert(1)</script>'],
      ['with a quote', 'a"b'],
      ['with a comma', 'one,two'],
      ['not ASCII', 'caf\u00e9'],
    ])('is replaced if the given one is %s', async (_name, id) => {
      const answer = await send('/health/live', { headers: { 'x-request-id': id } });
      expect(answer.headers.get('x-request-id')).toMatch(ULID);
    });

    it('is replaced if two are given', async () => {
      const answer = await new Promise<string | string[] | undefined>((resolve, reject) => {
        const headers = ['X-Request-Id', 'one', 'X-Request-Id', 'two', 'Host', 'localhost'];
        request(`${service.url}/health/live`, { headers }, (response) => {
          response.resume();
          resolve(response.headers['x-request-id']);
        })
          .on('error', reject)
          .end();
      });
      expect(answer).toMatch(ULID);
    });

    it.each(['a', '4711', 'ab12-CD34_ef.56', 'x'.repeat(128)])('is kept if it is valid: %s', async (id) => {
      const answer = await send('/health/live', { headers: { 'x-request-id': id } });
      expect(answer.headers.get('x-request-id')).toBe(id);
    });

    it('differs between requests', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => send('/nothing')));
      expect(new Set(answers.map((answer) => answer.headers.get('x-request-id'))).size).toBe(20);
    });

    it.each(kinds)('is sent with %s', async (_name, ask) => {
      const answer = await ask({ 'x-request-id': 'given-by-the-caller' });
      expect(answer.headers.get('x-request-id')).toBe('given-by-the-caller');
    });

    it('is in the log line of the request', async () => {
      await send('/nothing', { headers: { 'x-request-id': 'find-me-in-the-log' } });
      const lines = service.log.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.filter((line) => line.request_id === 'find-me-in-the-log')).toMatchObject([
        { method: 'GET', status: 404 },
      ]);
    });
  });

  describe('the security headers', () => {
    const expectSafe = (headers: Headers) => {
      const policy = policyOf(headers);
      expect(policy.get('default-src')).toEqual(["'none'"]);
      expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
      expect(policy.get('base-uri')).toEqual(["'none'"]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin|strict-origin)$/);
      expect(headers.has('server')).toBe(false);
      expect(headers.has('x-powered-by')).toBe(false);
    };

    it.each(kinds)('are sent with %s, which names no product', async (_name, ask) => {
      expectSafe((await ask({})).headers);
    });

    it('are sent with answers to input that is not HTTP', async () => {
      const answers = [
        await sendRaw(service.url, 'this is no HTTP\r\n\r\n'),
        await sendRaw(service.url, rawRequest('GET /', { Cookie: 'x'.repeat(100_000) })),
      ];
      for (const answer of answers) {
        expectSafe(answer.headers);
        expect(answer.headers.get('x-request-id')).toMatch(ULID);
      }
    });

    // With one that does, in login-https.spec.ts.
    it('do not require HTTPS if the base URL does not use it', async () => {
      for (const path of ['/login', '/nothing', '/health/live'])
        expect((await send(path)).headers.has('strict-transport-security')).toBe(false);
    });
  });

  it('no page may run a script but ours for times and passkeys, use inline styles or be cached', async () => {
    const asHtml = { headers: { accept: 'text/html' } };
    const consentPage = await browser.open(consent());
    const pages = [
      consentPage,
      await browser.open('/'),
      await send('/login'),
      await send('/portal'),
      await send('/portal/login/nothing'),
      await send('/password/nothing'),
      await send('/o/authorize'),
      await send('/v2/problems/not-found/', asHtml),
      await send('/nothing', asHtml),
    ];
    for (const page of pages) {
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = policyOf(page.headers);
      expect([...policy.values()].flat().join(' ')).not.toMatch(/unsafe|\*|data:|(^| )https?:( |$)/);
      const ours = /<script src="\/assets\/(passkeys|times)\.js" defer><\/script>/g;
      const without = page.text.replaceAll(ours, '');
      expect(policy.get('script-src')).toEqual(without === page.text ? undefined : ["'self'"]);
      // The consent page leads to an application, which may redirect on to any other page.
      expect(policy.get('form-action')).toEqual(page === consentPage ? undefined : ["'self'"]);
      expect(without).not.toMatch(/<script|<iframe|<[^>]+\s(style|on[a-z]+)\s*=/i);
      expect(page.headers.get('cache-control')).toBe('no-store');
    }
  });

  describe('CORS', () => {
    const origin = { origin: 'https://spa.example' };
    const open = [
      ['POST', '/o/token'],
      ['POST', '/o/token/'],
      ['POST', '/o/revoke_token/'],
      ['GET', '/.well-known/oauth-authorization-server'],
      ['GET', '/.well-known/openid-configuration'],
      ['GET', '/.well-known/oauth-protected-resource'],
      ['GET', '/.well-known/consent-receipts/jwks.json'],
      ['GET', '/v2/event_types'],
      ['GET', '/v2/event_types/vehicle.updated/versions/1/schema'],
      ['GET', '/v2/event_types/nothing/versions/1/schema'],
      ['GET', '/webhook_portal'],
      ['GET', '/v2/users'],
      ['GET', '/v2/users/user01HN2NJ9NMRZBXT1H6FT9N7735'],
      ['GET', '/notifications'],
      ['PATCH', '/notifications/notf01HN2NJ9NMRZBXT1H6FT9N7735'],
    ] as const;
    const list = (headers: Headers, name: string) =>
      (headers.get(name) ?? '').split(',').map((each) => each.trim().toLowerCase());

    it.each(
      listOf(`
      /admin/users, /admin/clients/clnt01HN2NJ9NMRZBXT1H6FT9N7735, /o/introspect, /o/introspect/,
      /o/authorize, /o/authorize/, /v2/events, /v2/problems/not-found/, /login, /logout, /portal,
      /portal/login/x, /password/x, /account, /health/live, /metrics, /, /nothing, /o/tokens, /v2/users/a/b,
      /v2/event_types/vehicle.updated, /.well-known/consent-receipts
    `),
    )('is not enabled for %s', async (path) => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const headers = { ...origin, 'access-control-request-method': 'POST' };
        const answer = await send(path, { method, headers });
        const named = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));
        expect([method, path, named]).toEqual([method, path, []]);
        if (method === 'OPTIONS') expect(answer.status).toBeGreaterThanOrEqual(400);
      }
    });

    it.each(open)(
      'answers the preflight of %s %s for any origin, without credentials',
      async (method, path) => {
        const asked = 'authorization, cache-control, content-type, dpop, service-version, x-request-id';
        const answer = await send(path, {
          method: 'OPTIONS',
          headers: {
            ...origin,
            'access-control-request-method': method,
            'access-control-request-headers': asked,
          },
        });
        expect([answer.status, answer.text]).toEqual([204, '']);
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
        expect(list(answer.headers, 'access-control-allow-methods')).toContain(method.toLowerCase());
        expect(list(answer.headers, 'access-control-allow-headers').sort()).toEqual(asked.split(', '));
      },
    );

    it.each(open)(
      'lets scripts of any origin read the answer of %s %s, even a refusal',
      async (method, path) => {
        const answer = await send(path, { method, headers: origin });
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
        expect(list(answer.headers, 'access-control-expose-headers').sort()).toEqual(
          listOf(`
          dpop-nonce, link, retry-after, service-version, www-authenticate, x-ratelimit-limit, x-ratelimit-remaining,
          x-request-id
        `),
        );
      },
    );

    it('is also enabled for successful answers, with and without an Origin', async () => {
      for (const headers of [origin, { origin: 'null' }, undefined]) {
        const answer = await send('/o/token', { form: credentials(), headers });
        expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
      }
    });
  });
});

function policyOf(headers: Headers): Map<string, string[]> {
  const directives = (headers.get('content-security-policy') ?? '')
    .split(';')
    .map((part) => part.trim().split(' '));
  return new Map(directives.map(([name, ...values]) => [name!, values]));
}

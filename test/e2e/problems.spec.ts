import { newSecret } from '#platform/secrets/tokens.js';
import { authorizePath, type BrowserSession } from '../support/browser-session.js';
import { type Answer, type HttpOptions, REDIRECT_URI, type TestClient, useService } from '../support/spec.js';

describe('Problems:', () => {
  const service = useService();
  let admin: string;
  let partner: TestClient;

  beforeAll(async () => {
    admin = await service.make.adminToken();
    partner = await service.make.client();
  });

  const send = (path: string, options: HttpOptions = {}) => service.http.send(path, options);

  /** Expects the members that every problem has, and the `type` of this kind. */
  function expectProblem(answer: Answer, status: number, slug?: string): void {
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json(;|$)/);
    expect(answer.json).toMatchObject({
      status,
      title: expect.stringMatching(/\S/),
      detail: expect.stringMatching(/\S/),
    });
    expect(answer.json.type).toBe(slug && `${service.settings.baseUrl}/v2/problems/${slug}/`);
    expect(answer.json.detail.length).toBeGreaterThanOrEqual(answer.json.title.length);
  }

  describe('the answer', () => {
    it('names each invalid member of a request in field_errors', async () => {
      const answer = await send('/admin/users', {
        bearer: admin,
        json: { email: 'not an address', name: '', colour: 'red' },
      });
      expectProblem(answer, 400, 'validation-failed');
      expect(Object.keys(answer.json.field_errors).sort()).toEqual(['colour', 'email', 'name']);
      for (const messages of Object.values<string[]>(answer.json.field_errors))
        expect(messages.every((message) => message.length > 5)).toBe(true);
    });

    it('is 400 for malformed JSON', async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await send('/admin/users', { bearer: admin, headers, body: '{"email":' });
      expectProblem(answer, 400, 'invalid-request');
    });

    it('is 401 with only status, title and detail', async () => {
      for (const path of ['/v2/users', '/webhook_portal', '/admin/users']) {
        for (const bearer of [undefined, 'garbage', `cds_at_${'x'.repeat(49)}`]) {
          const answer = await send(path, bearer === undefined ? {} : { bearer });
          expectProblem(answer, 401);
          expect(Object.keys(answer.json).sort()).toEqual(['detail', 'status', 'title']);
          expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
        }
      }
    });

    it('is 403 with only status, title and detail', async () => {
      const { access_token } = await service.make.tokens(partner, await service.make.user());
      for (const path of ['/webhook_portal', '/admin/users']) {
        const answer = await send(path, { bearer: access_token });
        expectProblem(answer, 403);
        expect(Object.keys(answer.json).sort()).toEqual(['detail', 'status', 'title']);
      }
    });

    it('is 404 for an unknown address and an unknown resource', async () => {
      expectProblem(await send('/nothing/here'), 404, 'not-found');
      expectProblem(await send('/o/nothing'), 404, 'not-found');
      expectProblem(await send('/admin/users/nobody', { bearer: admin }), 404, 'not-found');
      expectProblem(await send('/v2/problems/no-such-kind/'), 404, 'not-found');
    });

    it.each([
      ['DELETE', '/o/token', 'POST'],
      ['GET', '/o/token/', 'POST'],
      ['GET', '/o/token?grant_type=client_credentials', 'POST'],
      ['PUT', '/o/token', 'POST'],
      ['PATCH', '/o/token/', 'POST'],
      ['GET', '/o/revoke_token/', 'POST'],
      ['GET', '/o/introspect', 'POST'],
      ['GET', '/o/introspect/', 'POST'],
      ['PATCH', '/v2/users', 'GET, HEAD'],
      ['POST', '/webhook_portal', 'GET, HEAD'],
      ['PUT', '/health/live', 'GET, HEAD'],
      ['PUT', '/login', 'GET, HEAD, POST'],
      ['DELETE', '/admin/clients', 'GET, HEAD, POST'],
      ['OPTIONS', '/admin/clients', 'GET, HEAD, POST'],
      ['POST', '/admin/clients/clnt01HN2NJ9NMRZBXT1H6FT9N7735', 'DELETE, GET, HEAD, PATCH'],
    ])('is 405 for %s %s, and names the allowed methods', async (method, path, allowed) => {
      const answer = await send(path, { method });
      expectProblem(answer, 405, 'method-not-allowed');
      expect(answer.headers.get('allow')?.split(', ').sort().join(', ')).toBe(allowed);
    });

    it('is 409 for a conflict with the current state', async () => {
      const { email } = await service.make.user();
      const answer = await send('/admin/users', { bearer: admin, json: { email, name: 'Another' } });
      expectProblem(answer, 409, 'conflict');
    });

    it('is 413 for a body over 64 kB', async () => {
      const json = { email: 'a@mail.example', name: 'x'.repeat(66_000) };
      expectProblem(await send('/admin/users', { bearer: admin, json }), 413, 'content-too-large');
    });

    it('is 415 for an unsupported media type', async () => {
      const headers = { 'content-type': 'text/plain' };
      for (const body of [{ headers, body: 'x' }, { form: { name: 'x' } }]) {
        const answer = await send('/admin/users', { bearer: admin, ...body });
        expectProblem(answer, 415, 'unsupported-media-type');
      }
    });

    it('is also a problem for preflight requests and assets, which our controllers do not handle', async () => {
      for (const path of ['/login', '/o/token', '/assets/app.css']) {
        const headers = { 'content-type': '/' };
        expectProblem(
          await send(path, { method: 'OPTIONS', headers, body: 'x' }),
          415,
          'unsupported-media-type',
        );
      }
    });
  });

  describe('type URLs', () => {
    const seen = async (): Promise<string[]> => {
      const answers = await Promise.all([
        send('/nothing'),
        send('/o/token'),
        send('/admin/users', { bearer: admin, json: {} }),
        send('/v2/users', { headers: { 'service-version': '9' }, bearer: admin }),
        send('/admin/users', { bearer: admin, form: { name: 'x' } }),
        send('/admin/users', { bearer: admin, json: { name: 'x'.repeat(66_000) } }),
      ]);
      const types = answers.map((answer) => answer.json.type as string | undefined);
      return types.filter((type) => type !== undefined);
    };

    it('answer a browser with a page, other clients with JSON, and unsupported types with 406', async () => {
      const types = await seen();
      expect(types.length).toBeGreaterThanOrEqual(5);
      for (const type of types) {
        const slug = new URL(type).pathname.split('/')[3]!;
        const html = await send(type, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
        expect([html.status, html.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
        expect(html.text).toContain(slug);
        expect((await send(type)).status).toBe(200);
        const json = await send(type, { headers: { accept: 'application/json' } });
        expect([json.status, json.json.type]).toEqual([200, type]);
        expect(json.json.title).toMatch(/\S/);
        expectProblem(await send(type, { headers: { accept: 'image/png' } }), 406, 'not-acceptable');
      }
    });

    it('work with and without the trailing slash, and vary by Accept', async () => {
      for (const path of ['/v2/problems/not-found', '/v2/problems/not-found/']) {
        const answer = await send(path, { headers: { accept: 'application/json' } });
        expect(answer.status).toBe(200);
        expect(answer.headers.get('vary')).toMatch(/accept/i);
      }
    });

    it('answer 404 to names that every JavaScript object has', async () => {
      for (const slug of ['constructor', '__proto__', 'toString'])
        expectProblem(await send(`/v2/problems/${slug}/`), 404, 'not-found');
    });
  });

  describe('an unexpected error', () => {
    const tables = ['authorization_codes', 'consents', 'revoked_access_tokens', 'scopes'];

    let browser: BrowserSession;
    let bearer: string;

    beforeAll(async () => {
      browser = await service.make.signedIn(await service.make.user());
      bearer = await service.make.clientToken(partner);
      for (const name of tables) await service.database.query(`ALTER TABLE ${name} RENAME TO ${name}_away`);
    });
    afterAll(async () => {
      for (const name of tables) await service.database.query(`ALTER TABLE ${name}_away RENAME TO ${name}`);
    });

    const attempts: [string, (headers: Record<string, string>) => Promise<Answer>][] = [
      ['the metadata', (headers) => send('/.well-known/oauth-authorization-server', { headers })],
      ['a bearer endpoint', (headers) => send('/v2/users', { headers, bearer })],
      [
        'the token endpoint',
        (headers) =>
          send('/o/token', {
            headers,
            basic: partner,
            form: {
              grant_type: 'authorization_code',
              code: newSecret('authorizationCode'),
              redirect_uri: REDIRECT_URI,
            },
          }),
      ],
      [
        'the revocation endpoint',
        (headers) => send('/o/revoke_token/', { headers, basic: partner, form: { token: bearer } }),
      ],
    ];

    it.each(attempts)(
      'at %s is answered with a 500 that reveals no internals, and is logged',
      async (name, attempt) => {
        const id = `unexpected-${name.replaceAll(' ', '-')}`;
        const answer = await attempt({ 'x-request-id': id });
        expectProblem(answer, 500, 'internal-error');
        expect(answer.headers.get('x-request-id')).toBe(id);
        expect(answer.text).not.toMatch(
          /relation|select|insert|update|scopes|_away|access_tokens|\bat \S+:\d+/i,
        );
        const lines = service.log
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .filter((line) => line.request_id === id && line.level === 'error');
        expect(lines).toHaveLength(1);
        expect(JSON.stringify(lines[0])).toMatch(/does not exist/);
      },
    );

    it('on a page is explained in words, with the request id to quote', async () => {
      const request = { response_type: 'code', client_id: partner.id, redirect_uri: REDIRECT_URI };
      const headers = { 'x-request-id': 'unexpected-page' };
      const page = await browser.open(authorizePath(request), { headers });
      expect([page.status, page.headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8']);
      expect(page.html.querySelector('main')!.text).toContain('unexpected-page');
      expect(page.text).not.toMatch(/relation|scopes_away/i);
    });
  });
});

import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { type Answer, type HttpOptions, madeOnce, revoke, useSharedService } from '../support/spec.js';
import { endingIn } from '../support/tokens.js';

const PATH = '/webhook_portal';

describe('GET /webhook_portal', () => {
  const service = useSharedService();
  let bearer: string;

  const owner = madeOnce(() => service.make.user({ kind: 'organisation' }));
  const client = madeOnce(() => service.make.client({ ownerId: owner.id }));
  beforeAll(async () => (bearer = await service.make.clientToken(client)));

  const ask = (options: HttpOptions = {}): Promise<Answer> => service.http.get(PATH, options);
  /** Of this client alone: those of other files expire, and are purged at any time. */
  const linkCount = async ({ id } = client): Promise<number> =>
    (await service.database.query('SELECT 1 FROM portal_links WHERE client_id = $1', [id])).length;
  const expectProblem = (answer: Answer, status: number, title: string): void => {
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(answer.headers.get('service-version')).toBe('2');
    expect(Object.keys(answer.json)).toEqual(['status', 'title', 'detail']);
    expect(answer.json).toMatchObject({ status, title });
    expect(answer.json.detail.length).toBeGreaterThan(20);
  };
  const expectUnauthorized = (answer: Answer): void => {
    expectProblem(answer, 401, 'Unauthorized');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="/);
  };
  const expectForbidden = (answer: Answer): void => expectProblem(answer, 403, 'Forbidden');

  describe('answers 401 to', () => {
    it('a request without credentials', async () => {
      const answer = await ask();
      expectUnauthorized(answer);
      expect(answer.json.detail).toContain('Authentication credentials were not provided');
      // RFC 6750 §3.1: no error code if no credentials were sent.
      expect(answer.headers.get('www-authenticate')).not.toContain('error=');
    });

    it.each(['Bearer', 'Bearer ', 'Bearer x', 'Bearer a b', 'Basic eDp5', 'Token x', 'x'])(
      'the Authorization header %j',
      async (authorization) => expectUnauthorized(await ask({ headers: { authorization } })),
    );

    it('an unknown, an expired and a revoked token with invalid_token', async () => {
      const [expired, revoked] = [
        await endingIn(service, await service.make.clientToken(client), -1),
        await service.make.clientToken(client),
      ];
      await revoke(service.http, client, revoked);
      const unknown = `${bearer.slice(0, -1)}${bearer.endsWith('A') ? 'B' : 'A'}`;
      for (const token of [expired, revoked, unknown]) {
        const answer = await ask({ bearer: token });
        expectUnauthorized(answer);
        expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
      }
    });

    it('a token in the query string', async () => {
      const before = await linkCount();
      for (const query of [`access_token=${bearer}`, `access_token=&access_token=${bearer}`]) {
        const answer = await service.http.get(`${PATH}?${query}`);
        expectUnauthorized(answer);
        expect(answer.json.detail).toContain('query string');
        expect((await service.http.get(`${PATH}?${query}`, { bearer })).status).toBe(400);
      }
      expect(await linkCount()).toBe(before);
      expect(service.log.join('')).not.toContain(bearer);
    });

    it('a refresh token and a client secret', async () => {
      const { refresh_token } = await service.make.tokens(client, await service.make.user());
      expectUnauthorized(await ask({ bearer: refresh_token }));
      expectUnauthorized(await ask({ bearer: client.secret }));
    });
  });

  describe('answers 403 to', () => {
    it('the token of a user who does not own the client', async () => {
      const { access_token } = await service.make.tokens(client, await service.make.user());
      expectForbidden(await ask({ bearer: access_token }));
    });

    it('the token of the user who owns a public client', async () => {
      const app = await service.make.client({ ownerId: owner.id, type: 'public' });
      const { access_token } = await service.make.tokens(app, owner);
      expectForbidden(await ask({ bearer: access_token }));
    });

    it('a client as soon as its owner loses the permission for webhooks', async () => {
      const other = await service.make.user();
      const itsClient = await service.make.client({ ownerId: other.id });
      const { access_token } = await service.make.tokens(itsClient, other);
      const tokens = [await service.make.clientToken(itsClient), access_token];
      for (const token of tokens) expect((await ask({ bearer: token })).status).toBe(200);
      await service.app.get(UsersService).update(other.id, { webhooksEnabled: false }, SERVICE_ACTOR);
      const before = await linkCount(itsClient);
      for (const token of tokens) expectForbidden(await ask({ bearer: token }));
      expect((await ask({ method: 'HEAD', bearer: tokens[0]! })).status).toBe(403);
      expect(await linkCount(itsClient)).toBe(before);
    });
  });

  describe('with a Service-Version that is not 2', () => {
    // test/properties/http-parsers.spec.ts has every value.
    it.each(['3', 'two', '2, 2', ''])(
      'such as %j answers 400 of the kind unsupported-version',
      async (version) => {
        const before = await linkCount();
        const answer = await ask({ bearer, headers: { 'service-version': version } });
        expect(answer.status).toBe(400);
        expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
        expect(answer.headers.get('service-version')).toBe('2');
        expect(answer.json).toMatchObject({
          type: `${service.settings.baseUrl}/v2/problems/unsupported-version/`,
          status: 400,
          title: 'Unsupported version',
        });
        expect(answer.json.detail).toContain('Service-Version');
        expect(await linkCount()).toBe(before);
      },
    );

    it('names a problem kind whose type URL works', async () => {
      const { json } = await ask({ bearer, headers: { 'service-version': '3' } });
      const page = await service.http.get(new URL(json.type as string).pathname);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    });

    it('is refused only after authentication', async () => {
      expectUnauthorized(await ask({ headers: { 'service-version': '3' } }));
      expectUnauthorized(await ask({ bearer: 'x', headers: { 'service-version': '3' } }));
    });
  });

  it('returns only the link, and is never cached', async () => {
    const answer = await ask({ bearer });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json)).toEqual(['url']);
    const start = `${service.settings.baseUrl}/portal/login/cds_pk_`;
    expect(answer.json.url.slice(0, start.length)).toBe(start);
    // 256 random bits and a checksum.
    expect(answer.json.url.slice(start.length)).toMatch(/^[A-Za-z0-9_-]{49}$/);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('service-version')).toBe('2');
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it.each(['2', '2.0', '2.00'])('accepts Service-Version %s', async (version) => {
    const answer = await ask({ bearer, headers: { 'service-version': version } });
    expect([answer.status, answer.headers.get('service-version')]).toEqual([200, '2']);
  });

  it('accepts the token of the user who owns a confidential client', async () => {
    const { access_token } = await service.make.tokens(client, owner);
    expect((await ask({ bearer: access_token })).status).toBe(200);
  });

  it('requires no scope', async () => {
    const token = await service.make.clientToken(client, 'vehicle:read');
    expect((await ask({ bearer: token })).status).toBe(200);
  });

  it('answers HEAD like GET, but creates no link', async () => {
    const before = await linkCount();
    const answer = await ask({ method: 'HEAD', bearer });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await ask({ method: 'HEAD' })).status).toBe(401);
    expect((await ask({ method: 'HEAD', bearer, headers: { 'service-version': '3' } })).status).toBe(400);
    expect(await linkCount()).toBe(before);
    const { text } = await ask({ bearer });
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  });

  it('creates another link each time', async () => {
    const keys = await Promise.all(
      [1, 2, 3].map(async () => ((await ask({ bearer })).json.url as string).split('/').at(-1)!),
    );
    expect(new Set(keys).size).toBe(3);
  });

  it('answers 401 for a disabled client, and enabling it again revives no token', async () => {
    const other = await service.make.client();
    const token = await service.make.clientToken(other);
    for (const enabled of [false, true]) {
      await service.app.get(ClientsService).update(other.id, { enabled }, SERVICE_ACTOR);
      expectUnauthorized(await ask({ bearer: token }));
    }
  });
});

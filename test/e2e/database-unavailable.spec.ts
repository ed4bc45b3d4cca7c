import { Client } from 'pg';
import { type HttpOptions, madeOnce, until, useService } from '../support/spec.js';

describe('An unavailable database', () => {
  // It cuts every connection to its database, also that of the tests.
  const service = useService();
  let admin: string;
  let elsewhere: Client;
  let name: string;
  let partnerToken: string;
  const cut = () =>
    elsewhere.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);

  const partner = madeOnce(() => service.make.client());
  beforeAll(async () => {
    admin = await service.make.adminToken();
    partnerToken = await service.make.clientToken(partner);
    const url = new URL(service.database.url);
    name = url.pathname.slice(1);
    url.pathname = '/postgres';
    elsewhere = new Client({ connectionString: url.href });
    await elsewhere.connect();
  });
  afterAll(async () => {
    await elsewhere.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await elsewhere.end();
  });

  const send = (path: string, options: HttpOptions = {}) => service.http.send(path, options);

  const credentials = () => ({ client_id: partner.id, client_secret: partner.secret });
  const requests = (): [string, HttpOptions][] => [
    ['/o/token', { form: { grant_type: 'client_credentials', ...credentials() } }],
    ['/o/revoke_token/', { form: { token: admin, ...credentials() } }],
    ['/o/introspect/', { form: { token: admin }, basic: { id: partner.id, secret: partner.secret } }],
    ['/.well-known/oauth-authorization-server', {}],
    ['/.well-known/consent-receipts/jwks.json', {}],
    ['/v2/users', { bearer: admin }],
    ['/webhook_portal', { bearer: admin }],
    ['/admin/users', { bearer: admin, json: { email: 'away@mail.example', name: 'Away' } }],
    ['/health/ready', {}],
  ];

  it('is answered with 503, never 500, for requests whose connections are cut', async () => {
    for (let round = 0; round < 3; round++) {
      const answers = Array.from({ length: 10 }, () => send('/v2/users', { bearer: partnerToken }));
      await cut();
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    }
    await until('all connections are new', async () => (await send('/health/ready')).status === 200);
  });

  it('is answered with 503 and Retry-After, until the service recovers by itself', async () => {
    await elsewhere.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await cut();
    // Until it notices, it rightly issues tokens from what it learned less than 100 ms ago.
    const [[tokenPath, tokenRequest]] = requests() as [[string, HttpOptions]];
    await until('what the instance knows is out of date', async () => {
      // Also a connection that was half made when the first were cut.
      await cut();
      return (await send(tokenPath, tokenRequest)).status === 503;
    });
    for (const [path, options] of requests()) {
      await cut();
      const answer = await send(path, options);
      expect([path, answer.status]).toEqual([path, 503]);
      expect(answer.json).toMatchObject({
        status: 503,
        type: expect.stringMatching(/\/service-unavailable\/$/),
      });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      // Also where the answer itself may be kept.
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.text).not.toMatch(/postgres|connection|ECONN|test_/i);
    }
    expect((await send('/health/live')).status).toBe(200);
    // A page that needs the database answers with an error page.
    const page = await send(`/o/authorize?client_id=${partner.id}&redirect_uri=x`);
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);

    await elsewhere.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await until('the service is ready again', async () => (await send('/health/ready')).status === 200);
    const answer = await send('/o/token', { form: { grant_type: 'client_credentials', ...credentials() } });
    expect(answer.status).toBe(200);
    expect(service.log.some((line) => line.includes('unexpected error') && /55000|57P0/.test(line))).toBe(
      false,
    );
  });
});

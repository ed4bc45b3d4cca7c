import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../support/free-port.js';
import { Haproxy, lackingHaproxy } from '../support/haproxy.js';
import { Http } from '../support/http.js';
import { describeUnless } from '../support/left-out.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';
import { until } from '../support/until.js';
import { WayToDatabase } from '../support/way-to-database.js';

const OPERATOR = {
  BOOTSTRAP_OPERATOR_EMAIL: 'first@operator.example',
  BOOTSTRAP_OPERATOR_PASSWORD: 'a password from the settings',
  BOOTSTRAP_OPERATOR_CLIENT_ID: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
  BOOTSTRAP_OPERATOR_CLIENT_SECRET: 'a secret from the settings, with 32 characters or more',
};

const isReady = (http: Http) => async () =>
  http.get('/health/ready').then(
    ({ status }) => status === 200,
    () => false,
  );

describeUnless(lackingHaproxy, 'the shipped load balancer', () => {
  let balancer: Haproxy | undefined;
  afterAll(() => balancer?.stop());

  describe('in front of two instances', () => {
    let database: TestDatabase;
    let way: WayToDatabase;
    let services: SpawnedService[];
    let ports: number[];
    let http: Http;
    let bearer: string;

    beforeAll(async () => {
      database = await createTestDatabase();
      way = await WayToDatabase.closed(database.serviceUrl!);
      await way.open();
      const publicPort = await freePort();
      ports = [await freePort(), await freePort()];
      services = await Promise.all(
        ports.map((port) =>
          new SpawnedService({
            ...{ NODE_ENV: 'production', PORT: String(port), BASE_URL: `http://127.0.0.1:${publicPort}` },
            ...{ DATABASE_URL: way.url, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, ...OPERATOR },
          }).ready(),
        ),
      );
      balancer = await Haproxy.start(publicPort, ports);
      http = new Http(balancer.url);
      await until('it balances', isReady(http));
      const { BOOTSTRAP_OPERATOR_CLIENT_ID: id, BOOTSTRAP_OPERATOR_CLIENT_SECRET: secret } = OPERATOR;
      const answer = await http.token({ grant_type: 'client_credentials' }, { id, secret });
      bearer = answer.json.access_token as string;
    });
    afterAll(async () => {
      await balancer?.stop();
      await SpawnedService.killAll();
      await way.close();
      await database.drop();
    });

    it('forwards no request for the metrics, however it is written', async () => {
      for (const path of [
        '/metrics',
        '/metrics/',
        '/metrics?a=b',
        '/%6detrics',
        '/metric%73/',
        '//metrics',
      ]) {
        const { status, headers, json, text } = await http.get(balancer!.url + path, {
          headers: { accept: '*/*' },
        });
        expect([path, status, headers.get('content-type')?.split(';')[0]]).toEqual([
          path,
          404,
          'application/problem+json',
        ]);
        expect(json.status).toBe(404);
        expect(text).not.toContain('nodejs_');
      }
      // Inside the network, the instances themselves answer it.
      expect((await new Http(`http://127.0.0.1:${ports[0]}`).get('/metrics')).text).toContain('nodejs_');
    });

    it('answers with Retry-After when no instance is available: a problem for programs, a page for people', async () => {
      await way.close();
      try {
        await until('no instance is ready', async () => {
          const { status, text } = await http.get('/health/ready');
          return status === 503 && text.includes('The service is not available at the moment');
        });
        const answers = [
          await http.get('/admin/users', { bearer }),
          await http.token({ grant_type: 'client_credentials' }, { id: 'x', secret: 'y' }),
        ];
        for (const { status, headers, json } of answers) {
          expect([status, headers.get('content-type'), headers.get('retry-after')]).toEqual([
            503,
            'application/problem+json',
            '2',
          ]);
          expect(json).toEqual({
            status: 503,
            title: 'Service unavailable',
            detail: expect.stringContaining('try again') as string,
          });
          expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
        }
        const page = await http.get('/login', { headers: { accept: 'text/html,*/*' } });
        expect([page.status, page.headers.get('retry-after')]).toEqual([503, '2']);
        expect(page.headers.get('content-type')).toMatch(/^text\/html/);
        expect(page.text).toContain('Not available at the moment');
      } finally {
        await way.open();
      }
      await until('it serves again', isReady(http));
    });

    it('retries a request at the other instance when its instance froze', async () => {
      services[0]!.signal('SIGSTOP');
      // The requests alternate between the instances, so that half of them go to the frozen one.
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => http.get('/admin/users', { bearer })),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      services[0]!.signal('SIGCONT');
    });
  });

  describe('in front of an instance that accepts requests and answers none', () => {
    let hanging: Server;
    let other: Server;
    const seen = { hanging: [] as string[], other: [] as string[] };

    beforeAll(async () => {
      const instance = async (asked: string[], answer: (response: ServerResponse) => void) => {
        const server = createServer((request, response) => {
          if (request.url === '/health/ready') return void response.end('{}');
          asked.push(request.method!);
          answer(response);
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return server;
      };
      hanging = await instance(seen.hanging, () => undefined);
      other = await instance(seen.other, (response) => void response.end('{"served":true}'));
      const ports = [hanging, other].map((server) => (server.address() as AddressInfo).port);
      balancer = await Haproxy.start(await freePort(), ports);
      await until('it balances', isReady(new Http(balancer.url)));
    });
    afterAll(() => {
      for (const server of [hanging, other]) {
        server.closeAllConnections();
        server.close();
      }
    });

    it('retries only reading requests and leaves the others to their sender', async () => {
      const send = (method: string) => fetch(`${balancer!.url}/o/token`, { method });
      const reads = await Promise.all([1, 2, 3, 4].map(() => send('GET')));
      expect(await Promise.all(reads.map((each) => each.text()))).toEqual(reads.map(() => '{"served":true}'));
      expect(seen.hanging.length).toBeGreaterThan(0);
      for (const list of Object.values(seen)) list.length = 0;

      const posts = await Promise.all([1, 2, 3, 4].map(() => send('POST')));
      // Each reached one instance, once.
      expect([...seen.hanging, ...seen.other]).toEqual(posts.map(() => 'POST'));
      const late = posts.filter(({ status }) => status !== 200);
      expect(late).toHaveLength(seen.hanging.length);
      for (const answer of late) {
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([504, '2']);
        expect(answer.headers.get('content-type')).toBe('application/problem+json');
        expect(await answer.json()).toMatchObject({ status: 504 });
      }
    });
  });
});

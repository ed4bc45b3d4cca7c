import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventStream } from '../support/event-stream.js';
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

/** Longer than a read may take that is repeated. */
const SLOW_SECONDS = 8;

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
      await balancer.untilUp(ports.length);
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
      await balancer!.untilUp(ports.length);
    });

    it('waits for events as long as the caller does, and keeps the stream of changes open meanwhile', async () => {
      const logged = () =>
        services.flatMap(({ printed }) => printed.match(/"route":"\/v2\/events\/?"/g) ?? []);
      let tries = 0;
      // The service itself ends the stream if it has not heard from the database for a second, as on a busy machine.
      await until('a stream is open for as long as the wait', async () => {
        const stream = await EventStream.open(`${balancer!.url}/v2/access_changes`, { bearer });
        if (stream.status !== 200) return false;
        const answer = await http.get(`/v2/events?after=latest&wait=${SLOW_SECONDS}`, { bearer });
        tries++;
        expect([answer.status, answer.json]).toEqual([200, []]);
        const { isOver } = stream;
        stream.close();
        return !isOver;
      });
      await until('it is in the log', () => logged().length >= tries);
      expect(logged()).toHaveLength(tries);
    });

    it('retries a request at the other instance when its instance froze', async () => {
      await balancer!.untilUp(ports.length);
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
    // Answered once all have arrived, so that both instances are equally busy and get the same number.
    const held: ServerResponse[] = [];
    let sent = 0;

    beforeAll(async () => {
      const instance = async (asked: string[], answer: (response: ServerResponse) => void) => {
        const server = createServer((request, response) => {
          if (request.url === '/health/ready') return void response.end('{}');
          asked.push(`${request.method} ${request.url}`);
          answer(response);
          if (seen.hanging.length + seen.other.length < sent) return;
          for (const each of held.splice(0)) each.end('{"served":true}');
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return server;
      };
      hanging = await instance(seen.hanging, () => undefined);
      other = await instance(seen.other, (response) => void held.push(response));
      const ports = [hanging, other].map((server) => (server.address() as AddressInfo).port);
      balancer = await Haproxy.start(await freePort(), ports);
      await until('it balances', isReady(new Http(balancer.url)));
    });
    afterAll(async () => {
      await balancer?.stop();
      for (const server of [hanging, other]) {
        server.closeAllConnections();
        server.close();
      }
    });

    const sendAll = (all: (() => Promise<Response>)[]) => {
      for (const list of Object.values(seen)) list.length = 0;
      sent = all.length;
      return Promise.all(all.map((send) => send()));
    };
    const post = (path: string, body = '') =>
      fetch(balancer!.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      });

    it('leaves the requests that change something to their sender', async () => {
      const answers = await sendAll([
        ...['', '/'].map((end) => () => post(`/o/token${end}`, 'grant_type=refresh_token&refresh_token=a')),
        ...['authorization_code', 'refresh%5Ftoken', ''].map(
          (type) => () => post('/o/token', `grant_type=${type}&client_id=grant_type=client_credentials`),
        ),
        () => post('/o/token'),
        () => post('/v2/events', 'grant_type=client_credentials'),
        () => post('/o/token/introspect'),
      ]);
      // Each reached one instance, once.
      expect([...seen.hanging, ...seen.other]).toHaveLength(answers.length);
      expect(seen.hanging.length).toBeGreaterThan(0);
      const late = answers.filter(({ status }) => status !== 200);
      expect(late).toHaveLength(seen.hanging.length);
      for (const answer of late) {
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([504, '2']);
        expect(answer.headers.get('content-type')).toBe('application/problem+json');
        expect(await answer.json()).toMatchObject({ status: 504 });
      }
    });

    it('retries what may be repeated at another instance', async () => {
      const kinds = [
        () => fetch(`${balancer!.url}/o/token`),
        () => post('/o/token/', 'scope=users%3Aread&grant_type=client_credentials'),
        () => post('/o/introspect', 'token=a'),
        () => post('/o/revoke_token/', 'token=a'),
      ];
      // Several of each, so that some of every kind go to the hanging instance first.
      const answers = await sendAll(kinds.flatMap((send) => Array.from({ length: 8 }, () => send)));
      expect(await Promise.all(answers.map((each) => each.text()))).toEqual(
        answers.map(() => '{"served":true}'),
      );
      expect([...new Set(seen.hanging)].sort()).toEqual([
        'GET /o/token',
        'POST /o/introspect',
        'POST /o/revoke_token/',
        'POST /o/token/',
      ]);
    });
  });

  describe('in front of instances that take long', () => {
    let servers: Server[];
    let asked: string[] = [];

    beforeAll(async () => {
      const instance = async () => {
        const server = createServer((request, response) => {
          if (request.url === '/health/ready') return void response.end('{}');
          asked.push(`${request.method} ${request.url}`);
          if (request.url!.includes('lost')) return void request.socket.destroy();
          // A stream says something at once.
          if (request.url!.startsWith('/v2/access_changes')) response.write(': ');
          setTimeout(() => response.end('served'), SLOW_SECONDS * 1000);
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return server;
      };
      servers = [await instance(), await instance()];
      const ports = servers.map((server) => (server.address() as AddressInfo).port);
      balancer = await Haproxy.start(await freePort(), ports);
      await until('it balances', isReady(new Http(balancer.url)));
    });
    beforeEach(() => (asked = []));
    afterAll(() => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    });

    const read = async (path: string) => {
      const answer = await fetch(balancer!.url + path, { headers: { connection: 'close' } });
      return [path, answer.status, await answer.text()];
    };

    it('leaves them the time that the service says, and asks once', async () => {
      const paths = [
        '/v2/events?wait=20',
        '/v2/events/?after=latest&wait=20',
        '/v2/access_changes',
        '/v2/access_changes/',
        '/login',
        '/login/?return_to=%2Faccount',
        '/login/callback/company?code=a&state=b',
        '/login/%63allback/company/?code=a&state=b',
      ];
      const answers = await Promise.all(paths.map(read));
      expect(answers).toEqual(
        paths.map((path) => [path, 200, path.startsWith('/v2/access') ? ': served' : 'served']),
      );
      expect(asked.sort()).toEqual(paths.map((path) => `GET ${path}`).sort());
    });

    it('repeats neither a wait for events nor the way back from an identity provider', async () => {
      const once = ['/v2/events?after=lost&wait=20', '/login/callback/company?code=lost&state=b'];
      const repeated = ['/v2/events?after=lost', '/login?return_to=%2Flost', '/v2/access_changes?lost'];
      for (const path of [...once, ...repeated]) {
        expect((await read(path)).slice(0, 2)).toEqual([path, 502]);
      }
      const times = (path: string) => asked.filter((each) => each === `GET ${path}`).length;
      expect(once.map(times)).toEqual([1, 1]);
      // Twice more.
      expect(repeated.map(times)).toEqual([3, 3, 3]);
    });
  });
});

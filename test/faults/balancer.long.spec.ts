import { createSocket, type Socket } from 'node:dgram';
import { readFileSync, readlinkSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRoot } from '../../demo/embedded-postgres/postgres-user.js';
import { EventStream } from '../support/event-stream.js';
import { freePort } from '../support/free-port.js';
import { Haproxy, lackingHaproxy } from '../support/haproxy.js';
import { Http, until } from '../support/spec.js';
import { describeUnless } from '../support/left-out.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';
import { WayToDatabase } from '../support/way-to-database.js';
import { listOf } from '../support/list-of.js';

const OPERATOR = {
  BOOTSTRAP_OPERATOR_EMAIL: 'first@operator.example',
  BOOTSTRAP_OPERATOR_PASSWORD: 'a password from the settings',
  BOOTSTRAP_OPERATOR_CLIENT_ID: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
  BOOTSTRAP_OPERATOR_CLIENT_SECRET: 'a secret from the settings, with 32 characters or more',
};

/** Longer than a read may take that is repeated. */
const SLOW_SECONDS = 8;

/** Longer than a check took at most before, and as long as a busy instance may take. */
const LATE_MS = 2_500;

const isReady = (http: Http) => async () =>
  http.get('/health/ready').then(
    ({ status }) => status === 200,
    () => false,
  );

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function serve(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const end = (server: Server): void => {
  server.closeAllConnections();
  server.close();
};

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
            NODE_ENV: 'production',
            PORT: String(port),
            BASE_URL: `http://127.0.0.1:${publicPort}`,
            DATABASE_URL: way.url,
            ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
            ...OPERATOR,
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

    it('lets the instances say themselves why they serve nothing when none of them is ready', async () => {
      await way.close();
      try {
        await balancer!.untilUp(0);
        const answers = [await http.get('/admin/users', { bearer }), await http.get('/health/ready')];
        for (const { status, headers, json } of answers) {
          expect([status, headers.get('content-type'), headers.get('retry-after')]).toEqual([
            503,
            'application/problem+json; charset=utf-8',
            '2',
          ]);
          expect(json).toMatchObject({ status: 503, title: 'Service unavailable' });
          // Of an instance: that of the load balancer has another form.
          expect(headers.get('x-request-id')).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
        }
        // What needs no database is served.
        const page = await http.get('/login', { headers: { accept: 'text/html,*/*' } });
        expect([page.status, page.text]).toEqual([200, expect.stringContaining('<form')]);
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
      balancer = await Haproxy.start(await freePort(), [portOf(hanging), portOf(other)]);
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
      expect([...new Set(seen.hanging)].sort()).toEqual(
        listOf(`
        GET /o/token, POST /o/introspect, POST /o/revoke_token/, POST /o/token/
      `),
      );
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
      balancer = await Haproxy.start(await freePort(), [portOf(servers[0]!), portOf(servers[1]!)]);
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
      for (const path of [...once, ...repeated]) expect((await read(path)).slice(0, 2)).toEqual([path, 502]);
      const times = (path: string) => asked.filter((each) => each === `GET ${path}`).length;
      expect(once.map(times)).toEqual([1, 1]);
      // Twice more.
      expect(repeated.map(times)).toEqual([3, 3, 3]);
    });
  });

  describe('in front of instances that answer their checks late, or not as ready', () => {
    let checks: number;
    let health: RequestListener;
    let servers: Server[];
    const checkLater: RequestListener = (_request, response) => {
      checks++;
      setTimeout(() => response.end('{}'), LATE_MS);
    };
    const notReady: RequestListener = (_request, response) => void response.writeHead(503).end('{}');

    beforeAll(async () => {
      health = checkLater;
      const instance = () =>
        serve((request, response) => {
          if (request.url === '/health/ready') return health(request, response);
          response.end('served');
        });
      servers = [await instance(), await instance()];
      checks = 0;
      balancer = await Haproxy.start(await freePort(), [portOf(servers[0]!), portOf(servers[1]!)]);
      await until('it answers', () =>
        fetch(balancer!.url).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
    });
    afterAll(async () => {
      await balancer?.stop();
      servers.forEach(end);
    });

    it('waits for them', async () => {
      // As many as took both out before.
      await until('each was checked four times', () => checks >= 8);
      await balancer!.untilUp(2);
      health = notReady;
      await balancer!.untilUp(0);
    });

    it.each([
      ['a program', '*/*'],
      ['a person', 'text/html,*/*'],
    ])('asks them all the same when none is left, for %s', async (_who, accept) => {
      health = notReady;
      await balancer!.untilUp(0);
      const answer = await fetch(balancer!.url, { headers: { accept } });
      expect([answer.status, await answer.text()]).toEqual([200, 'served']);
    });

    it('goes to the one that can be reached, and answers by itself when there is none: a problem for programs, a page for people', async () => {
      health = notReady;
      await balancer!.untilUp(0);
      end(servers[0]!);
      const http = new Http(balancer!.url);
      for (let n = 0; n < 4; n++) expect((await http.get('/')).text).toBe('served');
      end(servers[1]!);
      const problem = await http.token({ grant_type: 'client_credentials' }, { id: 'x', secret: 'y' });
      expect([
        problem.status,
        problem.headers.get('content-type'),
        problem.headers.get('retry-after'),
      ]).toEqual([503, 'application/problem+json', '2']);
      expect(problem.json).toEqual({
        status: 503,
        title: 'Service unavailable',
        detail: expect.stringContaining('try again') as string,
      });
      expect(problem.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      const page = await http.get('/login', { headers: { accept: 'text/html,*/*' } });
      expect([page.status, page.headers.get('retry-after')]).toEqual([503, '2']);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(page.text).toContain('Not available at the moment');
    });
  });

  describeUnless(isRoot() ? undefined : 'only root starts it as Debian does', 'as Debian starts it,', () => {
    let instance: Server;
    let log: Socket;
    let lines: string[];
    let isUp: boolean;

    beforeAll(async () => {
      [lines, isUp] = [[], true];
      log = createSocket('udp4', (message) => void lines.push(String(message)));
      await new Promise<void>((resolve) => log.bind(0, '127.0.0.1', resolve));
      instance = await serve((request, response) => {
        if (request.url === '/health/ready') return void response.writeHead(isUp ? 200 : 503).end('{}');
        const isRefused = request.url!.startsWith('/refused/');
        const id = isRefused ? 'req-ofrefused' : 'req-offine';
        response.writeHead(isRefused ? 502 : 200, { 'x-request-id': id }).end('served');
      });
      const port = portOf(instance);
      balancer = await Haproxy.start(await freePort(), [port, port], { logPort: log.address().port });
      await until('it balances', isReady(new Http(balancer.url)));
    });
    afterAll(async () => {
      await balancer?.stop();
      end(instance);
      log.close();
    });

    it('has given up root, in a folder without anything but the way to the log', () => {
      const status = readFileSync(`/proc/${balancer!.pid}/status`, 'utf8');
      const [uid, gid] = ['Uid', 'Gid'].map((name) => new RegExp(`^${name}:\\t(\\d+)`, 'm').exec(status)![1]);
      const user = /^haproxy:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))!;
      expect([uid, gid]).toEqual([user[1], user[2]]);
      expect(/^CapEff:\t(\w+)/m.exec(status)![1]).toMatch(/^0+$/);
      expect(readlinkSync(`/proc/${balancer!.pid}/root`)).toBe('/var/lib/haproxy');
    });

    it('logs what went wrong and instances that go, without what a URL holds', async () => {
      const http = new Http(balancer!.url);
      expect((await http.get('/fine?code=cds_ac_secret')).status).toBe(200);
      expect((await http.get('/refused/cds_pl_secret?code=cds_ac_secret')).status).toBe(502);
      await until('the request is in the log', () => lines.some((line) => line.includes('req-ofrefused')));
      isUp = false;
      await until('the instances are in the log', () =>
        ['service-1', 'service-2'].every((name) =>
          lines.some((line) => line.includes(`Server instances/${name} is DOWN`)),
        ),
      );
      const text = lines.join('');
      expect(text).toMatch(/ 127\.0\.0\.1 instances\/service-\d GET 502 .*request=req-ofrefused/);
      expect(text).toMatch(/Health check for server instances\/service-\d failed/);
      expect(text).not.toMatch(/secret|req-offine/);
    });
  });
});

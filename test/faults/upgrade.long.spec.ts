import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Haproxy, lackingHaproxy, WATCHED_MS } from '../support/haproxy.js';
import { freePort, Http, TEST_ENCRYPTION_KEY } from '../support/spec.js';
import { describeUnless } from '../support/left-out.js';
import { GENTLY_MS, Load, UNLIMITED } from '../support/load.js';
import { makeSendersOverHttp } from '../support/made-over-http.js';
import { unpackPreviousRelease } from '../support/previous-release.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase } from '../support/test-database.js';

/** Each round goes to this release, back to the one before, and at night to this one again; there are as many as these requests need. */
const REQUESTS = process.env.NIGHTLY ? 1_000_000 : 0;
const FAMILIES = process.env.NIGHTLY ? 12 : 3;
const AGAIN = process.env.NIGHTLY ? [process.cwd()] : [];
const OPERATOR = {
  id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
  secret: 'the secret of the first operator’s client',
};

describeUnless(
  lackingHaproxy,
  'an upgrade from the previous release, behind the load balancer under load,',
  () => {
    let balancer: Haproxy | undefined;
    afterAll(async () => {
      await balancer?.stop();
      await SpawnedService.killAll();
    });

    it(`refuses no request and loses no token, forward, back${AGAIN.length > 0 ? ' and forward again' : ''}`, async () => {
      const previous = await unpackPreviousRelease();
      const database = await createTestDatabase('template0');
      const migrate = (release: string) =>
        promisify(execFile)(
          process.execPath,
          [path.join(release, 'dist/src/operator.js'), 'migrate', '--service-role', 'charging_service'],
          { env: { PATH: process.env.PATH, DATABASE_URL: database.url } },
        );
      const [publicPort, ...ports] = [await freePort(), await freePort(), await freePort()];
      const started: SpawnedService[] = [];
      const start = (release: string, port: number) => {
        const service = new SpawnedService(
          {
            ...UNLIMITED,
            NODE_ENV: 'production',
            PORT: String(port),
            BASE_URL: `http://127.0.0.1:${publicPort}`,
            DATABASE_URL: database.serviceUrl!,
            MIGRATE_ON_START: 'false',
            DATABASE_POOL_SIZE: '6',
            ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
            LOG_LEVEL: 'warn',
            BOOTSTRAP_OPERATOR_EMAIL: 'first@operator.example',
            BOOTSTRAP_OPERATOR_PASSWORD: 'a long password',
            BOOTSTRAP_OPERATOR_CLIENT_ID: OPERATOR.id,
            BOOTSTRAP_OPERATOR_CLIENT_SECRET: OPERATOR.secret,
          },
          { folder: release },
        );
        started.push(service);
        return service.ready();
      };

      await migrate(previous);
      const services = await Promise.all(ports.map((port) => start(previous, port)));
      balancer = await Haproxy.start(publicPort!, ports, { isPatient: true });
      const http = new Http(balancer.url, true);
      await balancer.untilUp(ports.length);
      const load = new Load(http, await makeSendersOverHttp(http, OPERATOR, FAMILIES), false, GENTLY_MS);
      // The schema first; the previous release serves on.
      await migrate(process.cwd());
      await load.untilEach(200);

      const replaceAll = async (release: string) => {
        for (const [n, port] of ports.entries()) {
          await pause(WATCHED_MS);
          await balancer!.untilUp(ports.length);
          services[n]!.signal('SIGTERM');
          expect(await services[n]!.exit()).toBe(0);
          services[n] = await start(release, port);
        }
        await balancer!.untilUp(ports.length);
        await load.untilEach(200);
      };
      do {
        for (const release of [process.cwd(), previous, ...AGAIN]) await replaceAll(release);
      } while (load.seen.length < REQUESTS);
      await load.stop();
      const refused = load.seen.filter(({ status }) => status !== 200);
      // Of many, the first say as much as all.
      const errors = started.flatMap(({ printed }) =>
        printed.split('\n').filter((line) => /"level":"?(error|50)/.test(line)),
      );
      expect({ count: refused.length, first: refused.slice(0, 20), errors }).toEqual({
        count: 0,
        first: [],
        errors: [],
      });
      await load.verify(database);
      await database.drop();
    });
  },
);

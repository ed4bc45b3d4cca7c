import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { WakeUps } from '../../src/webhooks/deliveries/wake-ups.service.js';
import { Load, makeSenders, UNLIMITED, whatIsWrongWith503, type Senders } from '../support/load.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { startInstance, type TestInstance } from '../support/test-service.js';
import { Factory } from '../support/factory.js';
import { until } from '../support/until.js';

// Now and then, wherever the load is at that moment.
const CUTS = process.env.FAULTS_LONG ? 150 : 20;
const CUT_EVERY_MS = 120;
const BACK_WITHIN_MS = 5_000;
const POOL_SIZE = 4;
// A request waits for a connection for 3 s at the most.
const REFUSED_WITHIN_MS = 4_000;

jest.setTimeout(90_000);

describe('connections to PostgreSQL', () => {
  let postgres: OwnPostgres;
  let service: TestInstance;
  let senders: Senders;

  beforeAll(async () => {
    postgres = await OwnPostgres.start({ max_connections: '30', superuser_reserved_connections: '3' });
    const env = { ...UNLIMITED, DATABASE_POOL_SIZE: String(POOL_SIZE) };
    service = await startInstance(postgres, env);
    senders = await makeSenders(new Factory(service));
  });
  afterAll(async () => {
    await service.app.close();
    await postgres.drop();
  });

  const cutAll = () =>
    postgres.query<{ n: number }>(
      `SELECT count(pg_terminate_backend(pid))::int AS n FROM pg_stat_activity
        WHERE application_name LIKE 'charging-data-service%'`,
    );
  const errors = () => service.log.filter((line) => /"level":"(error|fatal)"/.test(line));

  it('that are cut again and again cost no wrong answer, none is a 500, and all is served at once', async () => {
    const load = new Load(service.http, senders);
    for (let n = 0; n < CUTS; n++) {
      await pause(CUT_EVERY_MS * Math.random());
      await cutAll();
    }
    await load.untilServed(BACK_WITHIN_MS);
    await load.stop();
    expect(Math.max(...load.seen.map(({ took }) => took))).toBeLessThan(REFUSED_WITHIN_MS);
    await load.verify(postgres);
    expect(errors()).toEqual([]);
  });

  it('that are cut while they listen for deliveries are made anew, and whoever slept is woken', async () => {
    let heard = 0;
    service.app.get(WakeUps).onWakeUp(() => heard++);
    const announced = async () => {
      const before = heard;
      await postgres.query("SELECT pg_notify('webhook_deliveries', '')");
      await pause(50);
      return heard > before;
    };
    await until('it listens', announced);
    for (let n = 0; n < 3; n++) {
      await cutAll();
      await until('it listens again', announced, BACK_WITHIN_MS);
    }
  });

  describe('when none is to be had', () => {
    const held: Client[] = [];
    afterEach(async () => {
      await Promise.all(held.splice(0).map((each) => each.end()));
    });

    it('because each of the pool is held up, whoever waits is refused in time; what needs none is served', async () => {
      const holder = await postgres.connect();
      held.push(holder);
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE access_tokens');
      const basic = { id: senders.client.id, secret: senders.client.secret };
      const begun = performance.now();
      const token = () => service.http.token({ grant_type: 'client_credentials' }, basic);
      const waiting = Promise.all(Array.from({ length: 5 * POOL_SIZE }, token));
      // A malformed token is refused without a look into the database.
      expect((await service.http.get('/v2/users', { bearer: 'malformed' })).status).toBe(401);
      expect((await service.http.get('/health/live')).status).toBe(200);
      const answers = await waiting;
      expect(answers.map(whatIsWrongWith503)).toEqual(answers.map(() => undefined));
      expect(performance.now() - begun).toBeLessThan(12_000);
      await holder.query('ROLLBACK');
      const back = performance.now();
      await until('it is served again', async () => (await token()).status === 200);
      expect(performance.now() - back).toBeLessThan(BACK_WITHIN_MS);
    });

    it('because PostgreSQL takes no more, requests are refused with 503, and served once there is room', async () => {
      await cutAll();
      for (;;) {
        const more = await postgres.connect().catch(() => undefined);
        if (!more) break;
        held.push(more);
      }
      const load = new Load(service.http, senders);
      await pause(300);
      await Promise.all(held.splice(0).map((each) => each.end()));
      await load.untilServed(BACK_WITHIN_MS);
      await load.stop();
      expect(load.seen.some(({ status }) => status === 503)).toBe(true);
      await load.verify(postgres);
    });
  });
  afterEach(() => expect(errors()).toEqual([]));
});

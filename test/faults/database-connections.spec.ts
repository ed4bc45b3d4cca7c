import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { WakeUps } from '#events/webhooks/deliveries/wake-ups.service.js';
import { HeldTimers, turns } from '../support/held-timers.js';
import { Load, makeSenders, UNLIMITED, whatIsWrongWith503, type Senders } from '../support/load.js';
import { PATIENT, setInSessions } from '../support/session-settings.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { OwnPostgres } from '../support/own-postgres.js';
import type { Answer } from '../support/http.js';
import { startInstance, type TestInstance } from '../support/test-service.js';
import { Factory } from '../support/factory.js';
import { until } from '../support/until.js';

// At random moments of the load.
const CUTS = process.env.NIGHTLY ? 150 : 10;
const CUT_EVERY_MS = 120;
const POOL_SIZE = 4;
// The time that a request waits for a connection.
const POOL_WAIT_MS = 3_000;
const MAX_CONNECTIONS = 30;

describe('connections to PostgreSQL', () => {
  let postgres: OwnPostgres;
  let service: TestInstance;
  let senders: Senders;

  beforeAll(async () => {
    postgres = await OwnPostgres.start({
      max_connections: String(MAX_CONNECTIONS),
      superuser_reserved_connections: '3',
    });
    const env = { ...UNLIMITED, DATABASE_POOL_SIZE: String(POOL_SIZE) };
    service = await startInstance(postgres, env);
    senders = await makeSenders(new Factory(service));
  });
  afterAll(async () => {
    await service.app.close();
    await postgres.drop();
  });

  /** Returns the pids of those that were cut: a busy server may take a while to end them. */
  const cutAll = async (): Promise<number[]> => {
    const cut = await postgres.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
        WHERE application_name LIKE 'charging-data-service%' AND pg_terminate_backend(pid)`,
    );
    return cut.map(({ pid }) => pid);
  };
  const untilEnded = (pids: number[]) =>
    until('what was cut has ended', async () => {
      const left = await postgres.query('SELECT 1 FROM pg_stat_activity WHERE pid = ANY ($1)', [pids]);
      await turns();
      return left.length === 0;
    });
  const errors = () => service.log.filter((line) => /"level":"(error|fatal)"/.test(line));

  it('that are cut again and again cause no wrong response and no 500, and afterwards every request is served at once', async () => {
    // No limit expires here: a request that had to wait for one, to be refused or served, would wait forever.
    const limits = HeldTimers.hold(POOL_WAIT_MS, POOL_WAIT_MS, '/pg-pool/');
    try {
      const load = new Load(service.http, senders);
      const cut: number[] = [];
      for (let n = 0; n < CUTS; n++) {
        await pause(CUT_EVERY_MS * Math.random());
        cut.push(...(await cutAll()));
      }
      await untilEnded(cut);
      await load.untilEnded();
      const { mark } = load;
      await load.untilEach(200);
      expect(load.between(mark).filter(({ status }) => status !== 200)).toEqual([]);
      await load.stop();
      await load.verify(postgres);
    } finally {
      limits.release();
    }
    expect(errors()).toEqual([]);
  });

  it('that are cut while they listen for deliveries are reopened, and waiting workers are woken', async () => {
    let heard = 0;
    service.app.get(WakeUps).onDeliveries(() => heard++);
    const announced = async () => {
      const before = heard;
      await postgres.query("SELECT pg_notify('webhook_deliveries', '')");
      await pause(50);
      return heard > before;
    };
    await until('it listens', announced);
    for (let n = 0; n < 3; n++) {
      await cutAll();
      await until('it listens again', announced);
    }
  });

  describe('when none is available', () => {
    const held: Client[] = [];
    afterEach(async () => {
      await Promise.all(held.splice(0).map((each) => each.end()));
    });

    it('because the whole pool is blocked: waiting requests are refused in time, and requests that need none are served', async () => {
      // Those that wait for a lock give up when the test says so, and not after five seconds: every connection from now on.
      setInSessions(postgres, PATIENT);
      await untilEnded(await cutAll());
      const holder = await postgres.connect();
      held.push(holder);
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE portal_links');
      const link = () => service.http.get('/webhook_portal', { bearer: senders.bearer });
      const blocked: Promise<Answer>[] = [];
      let givenUp = 0;
      while (blocked.length < POOL_SIZE) {
        blocked.push(link().finally(() => givenUp++));
        await untilWaitingForLocks(postgres, blocked.length);
      }
      const limit = HeldTimers.hold(POOL_WAIT_MS, POOL_WAIT_MS, '/pg-pool/');
      try {
        let refused = 0;
        const unknown = { id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735', secret: 'x'.repeat(40) };
        const waiting = Array.from({ length: 5 * POOL_SIZE }, () =>
          service.http.token({ grant_type: 'client_credentials' }, unknown).finally(() => refused++),
        );
        await until('they wait for a connection', () => limit.count > 0);
        // A malformed token is refused without a query.
        expect((await service.http.get('/v2/users', { bearer: 'malformed' })).status).toBe(401);
        expect((await service.http.get('/health/live')).status).toBe(200);
        expect(refused).toBe(0);
        while (refused < waiting.length) {
          limit.letPass();
          await turns();
        }
        for (const answer of await Promise.all(waiting)) expect(whatIsWrongWith503(answer)).toBeUndefined();
        expect(givenUp).toBe(0);
        await until('those that wait for a lock have given up', async () => {
          // As at PostgreSQL's own timeout of a statement.
          await postgres.query(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
          );
          return givenUp === POOL_SIZE;
        });
        for (const answer of await Promise.all(blocked)) expect(whatIsWrongWith503(answer)).toBeUndefined();
      } finally {
        limit.release();
      }
      await holder.query('ROLLBACK');
      expect((await link()).status).toBe(200);
    });

    it('because PostgreSQL accepts no more: requests are refused with 503, and served once there is room', async () => {
      // Until none of the service's own connections is left, not even one that is being made: it reconnects on its own. One of all
      // is the test's own.
      while (held.length < MAX_CONNECTIONS - 1) {
        const more = await postgres.connect().catch(() => undefined);
        if (more) held.push(more);
        else await cutAll();
      }
      const load = new Load(service.http, senders);
      await load.untilEach(503);
      await Promise.all(held.splice(0).map((each) => each.end()));
      await load.untilEach(200);
      await load.stop();
      await load.verify(postgres);
    });
  });
  afterEach(() => expect(errors()).toEqual([]));
});

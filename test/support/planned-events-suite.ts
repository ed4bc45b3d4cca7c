import { Client } from 'pg';
import { PlannedEventsWorker } from '#events/sandbox/planned-events.worker.js';
import { untilWaitingForLocks } from './locks.js';
import { SandboxProgram, stopPlannedEvents, type SandboxDriver } from './sandbox.js';
import { SpawnedService } from './spawned-service.js';
import { madeOnce } from './made.js';
import { nameOf } from './test-database.js';
import { freePort, TEST_ENCRYPTION_KEY, useService } from './test-service.js';
import { until } from './until.js';
import { WEBHOOK_ENV, Webhooks } from './webhooks.js';

const TYPES = ['vehicle.updated', 'charging_session.updated'];
const EVENTS = 6;
const LOOKS_AT_PLAN = /pg_try_advisory_xact_lock/;
/** What holds it up there. */
const LOCKS = {
  'waits for its turn': `SELECT pg_advisory_xact_lock(1702260340, hashtext(concat_ws(' ', user_id, family, resource_id)))
         FROM event_sequences WHERE user_id = $1`,
  'takes them out of the plan': 'SELECT 1 FROM sandbox_planned_events WHERE user_id = $1 FOR UPDATE',
  'numbers them': 'SELECT 1 FROM event_sequences WHERE user_id = $1 FOR UPDATE',
};

/** Defines the tests of an instance that ends while it publishes: at each of its statements, and killed in these places. */
export function describePlannedEvents(kills: (keyof typeof LOCKS)[]): void {
  describe('Planned events of the sandbox, when the instance that publishes them ends,', () => {
    const service = useService({ env: WEBHOOK_ENV, instances: 2 });
    const webhooks = Webhooks.setUp(service);
    const partner = madeOnce(() => SandboxProgram.start(service));
    const endpoint = madeOnce(() => webhooks.endpoint(partner.client, { types: TYPES }));
    let driver: SandboxDriver;

    beforeEach(() => stopPlannedEvents(service));
    afterEach(() => SpawnedService.killAll());
    afterAll(async () => {
      await SpawnedService.killAll();
    });

    const worker = (n: number) => service.instances[n]!.app.get(PlannedEventsWorker, { strict: false });
    const waiting = async (): Promise<number> => {
      const rows = await service.database.query('SELECT 1 FROM sandbox_planned_events WHERE user_id = $1', [
        driver.id,
      ]);
      return rows.length;
    };
    const newDriver = async (): Promise<void> => {
      driver = await partner.driver();
      webhooks.receiver.requests.length = 0;
    };
    const plan = async (): Promise<void> => {
      const answer = await partner.call('POST', `drivers/${driver.id}/events`, { count: EVENTS });
      expect(answer.status).toBe(202);
    };
    /** What was planned is published by the second instance, each event once, in order, and delivered once. */
    const expectEachOnce = async (bursts = 1): Promise<void> => {
      worker(1).onApplicationBootstrap();
      await until('nothing waits', async () => (await waiting()) === 0);
      const events = await service.database.query<{
        id: string;
        type: string;
        payload: string;
        sent: number;
      }>(
        `SELECT e.id, e.type, e.payload, (SELECT count(*)::int FROM deliveries d WHERE d.event_id = e.id) AS sent
           FROM events e WHERE e.user_id = $1 AND e.type = ANY ($2) ORDER BY e.id`,
        [driver.id, TYPES],
      );
      const numbers = Array.from({ length: EVENTS / 2 }, (_each, n) => n + 1).flatMap((n) => [n, n]);
      expect(events.map(({ sent }) => sent)).toEqual(Array(bursts * EVENTS).fill(1));
      const numbered = events.slice(-EVENTS);
      expect(numbered.map(({ type }) => type)).toEqual(
        Array.from({ length: EVENTS }, (_each, n) => TYPES[n % 2]),
      );
      // The vehicle goes on counting with each burst; its session is a new one.
      const before = ((bursts - 1) * EVENTS) / 2;
      expect(numbered.map(({ payload }) => (JSON.parse(payload) as { sequence: number }).sequence)).toEqual(
        numbers.map((n, at) => (at % 2 === 0 ? n + before : n)),
      );
      await webhooks.receives(endpoint, bursts * EVENTS);
      const received = webhooks.received(endpoint).map(({ body }) => (JSON.parse(body) as { id: string }).id);
      expect(received.sort()).toEqual(events.map(({ id }) => id));
    };

    /**
     * Cuts the connection of a worker before the nth statement of its transaction, or, if there are not so many, after the commit and
     * before its answer. Returns the statement, once it was cut.
     */
    const cutBefore = (nth: number): { statement: () => string | undefined; stop: () => void } => {
      const send = Client.prototype.query as (this: Client, ...args: unknown[]) => Promise<unknown>;
      // Other services of this process may publish, too.
      const name = nameOf(service.database);
      let ofWorker: Client | undefined;
      let [count, cut]: [number, string | undefined] = [0, undefined];
      const terminate = (connection: Client): Promise<unknown> =>
        service.database.query('SELECT pg_terminate_backend($1, 5000)', [
          (connection as unknown as { processID: number }).processID,
        ]);
      const spy = jest.spyOn(Client.prototype, 'query').mockImplementation(function (
        this: Client,
        ...args: unknown[]
      ) {
        const sql = typeof args[0] === 'string' ? args[0] : String((args[0] as { text?: string }).text);
        if (cut === undefined && LOOKS_AT_PLAN.test(sql) && this.database === name)
          [ofWorker, count] = [this, 0];
        if (this !== ofWorker || cut !== undefined) return send.apply(this, args);
        if (++count === nth) {
          cut = sql;
          return terminate(this).then(() => send.apply(this, args));
        }
        if (sql !== 'COMMIT') return send.apply(this, args);
        return send.apply(this, args).then(async () => {
          await terminate(this);
          cut = 'the answer to COMMIT';
          throw new Error('Connection terminated unexpectedly');
        });
      } as typeof Client.prototype.query);
      return { statement: () => cut, stop: () => spy.mockRestore() };
    };

    it('are published once, whichever statement its connection breaks at', async () => {
      const cut: string[] = [];
      while (cut.at(-1) !== 'the answer to COMMIT') {
        await newDriver();
        await plan();
        const connection = cutBefore(cut.length + 1);
        worker(0).onApplicationBootstrap();
        await until('its connection is cut', () => connection.statement() !== undefined);
        worker(0).beforeApplicationShutdown();
        connection.stop();
        cut.push(connection.statement()!);
        await expectEachOnce();
        await stopPlannedEvents(service);
      }
      const what = [
        LOOKS_AT_PLAN,
        /SELECT pg_advisory_xact_lock/,
        /DELETE FROM sandbox_planned_events/,
        /INSERT INTO events/,
        /^COMMIT$/,
        /^the answer to COMMIT$/,
      ];
      expect(cut).toEqual(what.map((each) => expect.stringMatching(each) as string));
    });

    it.each(kills)('are published once by another, if it is killed while it %s', async (at) => {
      await newDriver();
      await plan();
      // There are numbers to hold.
      await expectEachOnce();
      await stopPlannedEvents(service);
      await plan();
      const holding = new Client({ connectionString: service.database.url });
      await holding.connect();
      try {
        await holding.query('BEGIN');
        await holding.query(LOCKS[at], [driver.id]);
        const port = String(await freePort());
        const killed = await new SpawnedService({
          ...WEBHOOK_ENV,
          NODE_ENV: 'production',
          PORT: port,
          BASE_URL: service.url,
          DATABASE_URL: service.database.url,
          ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
          LOG_LEVEL: 'warn',
        }).ready();
        await untilWaitingForLocks(service.database, 1);
        killed.signal('SIGKILL');
        await killed.exit();
        expect(await waiting()).toBe(EVENTS);
        await holding.query('ROLLBACK');
      } finally {
        await holding.end();
      }
      await expectEachOnce(2);
    });
  });
}

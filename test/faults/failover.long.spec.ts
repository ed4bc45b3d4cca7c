import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Factory, Http, TYPE, until, WEBHOOK_ENV } from '../support/spec.js';
import { describeUnless } from '../support/left-out.js';
import {
  GENTLY_MS,
  Load,
  makeSenders,
  UNLIMITED,
  whatIsWrongWith503,
  type Senders,
} from '../support/load.js';
import { lackingPatroni, PatroniCluster } from '../support/patroni.js';
import { Receiver } from '../support/receiver.js';
import { SpawnedService } from '../support/spawned-service.js';
import type { TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';

const newEvent = (userId: string, n: number) => ({
  type: TYPE,
  user_id: userId,
  timestamp: '2026-01-01T00:00:00Z',
  data: { n },
});
const KILLS = process.env.NIGHTLY ? 100 : 1;
const OTHERS = process.env.NIGHTLY ? 10 : 1;
// A refresh whose answer was lost is repeated with the same token, however long the fail-over takes.
const ENV = {
  ...UNLIMITED,
  ...WEBHOOK_ENV,
  NODE_ENV: 'production',
  LOG_LEVEL: 'warn',
  DATABASE_POOL_SIZE: '6',
  REFRESH_GRACE_SECONDS: '600',
  DATABASE_WAIT_SECONDS: '300',
  ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
};

describeUnless(lackingPatroni, 'with three PostgreSQL servers under Patroni, two instances', () => {
  let cluster: PatroniCluster;
  let database: TestDatabase;
  let receiver: Receiver;
  /** The first instance has the three servers in its DATABASE_URL, the second one the address of HAProxy. */
  let instances: Http[];
  let senders: Senders[];
  let bearer: string;
  let userId: string;

  beforeAll(async () => {
    cluster = await PatroniCluster.start();
    database = {
      url: await cluster.leaderUrl(),
      query: (sql, parameters) => cluster.query(sql, parameters),
      drop: () => cluster.remove(),
    };
    receiver = await Receiver.start((response) => void response.end('ok'));
    instances = [];
    for (const url of [cluster.url, cluster.balancedUrl]) {
      const port = await freePort();
      const http = new Http(`http://127.0.0.1:${port}`);
      await new SpawnedService({ ...ENV, PORT: String(port), BASE_URL: http.url, DATABASE_URL: url }).ready();
      instances.push(http);
    }
    const maker = await startInstance(database, ENV);
    const make = new Factory(maker);
    senders = [await makeSenders(make), await makeSenders(make)];
    bearer = await make.adminToken();
    const [client, user] = [await make.client(), await make.user()];
    userId = user.id;
    await make.consent(client, user);
    const json = { url: receiver.url('/hook'), event_types: [TYPE] };
    const path = `/admin/clients/${client.id}/webhook_endpoints`;
    expect((await maker.http.send(path, { bearer, json })).status).toBe(201);
    await maker.app.close();
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await receiver?.stop();
    await cluster?.remove();
  });

  /** Publishes events and creates users at an instance until stopped, each repeated until it is answered with success. */
  function writesTo(http: Http) {
    const answered = { events: [] as string[], users: [] as string[] };
    const wrong: string[] = [];
    let running = true;
    const write = async (path: string, json: object, headers = {}): Promise<string | undefined> => {
      const answer = await http.send(path, { bearer, json, headers });
      if (answer.status === 201 || answer.status === 202) return answer.json.id as string;
      const what = answer.status === 503 ? whatIsWrongWith503(answer) : `${answer.status} ${answer.text}`;
      if (what) wrong.push(`${path}: ${what}`);
      return undefined;
    };
    const loop = async (ids: string[], next: (n: number) => Promise<string | undefined>) => {
      for (let n = 0; running; await pause(GENTLY_MS)) {
        const id = await next(n).catch((error: Error) => void wrong.push(error.message));
        if (id === undefined) continue;
        ids.push(id);
        n++;
      }
    };
    const key = randomUUID();
    const loops = [
      loop(answered.events, (n) =>
        write('/v2/events', newEvent(userId, n), { 'idempotency-key': `${key}-${n}` }),
      ),
      // Another address each time: what got no answer may have happened.
      loop(answered.users, () =>
        write('/admin/users', { email: `${randomUUID()}@mail.example`, name: 'Somebody' }),
      ),
    ];
    return {
      answered,
      wrong,
      stop: async () => {
        running = false;
        await Promise.all(loops);
      },
    };
  }

  const missing = async (table: 'events' | 'users', ids: string[]) => {
    const found = await database.query<{ id: string }>(`SELECT id FROM ${table} WHERE id = ANY ($1)`, [ids]);
    const there = new Set(found.map(({ id }) => id));
    return ids.filter((id) => !there.has(id));
  };

  /** What happens to a server under load: to which, until when the others have taken its place, and how it ends. */
  interface Harm {
    begin(name: string): Promise<void> | void;
    end?(name: string): Promise<void> | void;
    toStandby?: boolean;
  }

  /** After each harm every kind of request is served again by the instances, which never ended; nothing that was answered is missing. */
  async function survive(times: number, served: number[], { begin, end, toStandby }: Harm): Promise<void> {
    const loads = served.map((n) => new Load(instances[n]!, senders[n]!, false, GENTLY_MS));
    const writes = served.map((n) => writesTo(instances[n]!));
    try {
      for (let time = 0; time < times; time++) {
        await cluster.untilWhole();
        for (const load of loads) await load.untilEach(200, 2);
        let found: string | undefined;
        await until('there is one', async () => {
          found = await (toStandby ? cluster.standby() : cluster.leader());
          return found !== undefined;
        });
        const name = found!;
        await begin(name);
        await (toStandby ? cluster.untilStandbyReplaced(name) : cluster.untilReplaced(name));
        for (const load of loads) await load.untilEach(200, 2);
        const before = writes.map(({ answered }) => answered.events.length);
        await until('events are accepted', () => {
          expect(writes.flatMap(({ wrong }) => wrong)).toEqual([]);
          return writes.every(({ answered }, n) => answered.events.length > before[n]!);
        });
        await end?.(name);
        await cluster.revive(name);
      }
      await cluster.untilWhole();
    } finally {
      for (const each of [...writes, ...loads]) await each.stop();
    }
    for (const load of loads) await load.verify(database);

    expect(writes.flatMap(({ wrong }) => wrong)).toEqual([]);
    const events = writes.flatMap(({ answered }) => answered.events);
    expect(await missing('events', events)).toEqual([]);
    expect(
      await missing(
        'users',
        writes.flatMap(({ answered }) => answered.users),
      ),
    ).toEqual([]);
    // As if the leases were over of attempts whose outcome could not be written.
    await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
    const ofEvents = (sql: string) =>
      database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM deliveries WHERE event_id = ANY ($1) ${sql}`,
        [events],
      );
    await until('all are delivered', async () => {
      const [row] = await ofEvents("AND state = 'delivered'");
      return row!.n === events.length;
    });
    expect(await ofEvents('')).toEqual([{ n: events.length }]);
    const delivered = await database.query<{ id: string }>(
      'SELECT id FROM deliveries WHERE event_id = ANY ($1)',
      [events],
    );
    const heard = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
    expect(delivered.filter(({ id }) => !heard.has(id))).toEqual([]);
  }

  const [BY_NAMES, BALANCED] = [0, 1];

  const kill = (name: string) => cluster.kill(name);

  it('keep every answered write and serve again without a restart when the leader is killed', () =>
    survive(KILLS, [BY_NAMES, BALANCED], { begin: kill }));

  it('do the same when the leader hangs until its watchdog resets it', () =>
    survive(OTHERS, [BY_NAMES, BALANCED], { begin: (name) => cluster.freeze(name), end: kill }));

  // Each takes as long as all of another file.
  if (!process.env.NIGHTLY) return;

  it('do the same when the synchronous standby is killed', () =>
    survive(OTHERS, [BY_NAMES, BALANCED], { begin: kill, toStandby: true }));

  it('do the same behind HAProxy when the Patroni of the leader alone is killed, and PostgreSQL goes on', () =>
    survive(OTHERS, [BALANCED], { begin: (name) => cluster.killPatroni(name) }));
});

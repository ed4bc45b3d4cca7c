import type { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { HeldTimers, turns } from '../support/held-timers.js';
import type { Answer } from '../support/http.js';
import { describeLong } from '../support/left-out.js';
import { makeSenders, whatIsWrongWith503, type Senders } from '../support/load.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { startService, startInstance, type TestService } from '../support/test-service.js';
import { refreshRecordOf } from '../support/tokens.js';
import { Factory, type TestClient } from '../support/factory.js';
import { until } from '../support/until.js';

// SQLSTATE: the lock was not to be had in time; the statement took too long.
const [LOCK_TIMEOUT, STATEMENT_TIMEOUT] = ['55P03', '57014'];
// Seen: about 45 at the least, with 100 ms between two. Whoever had to wait for what blocks would be served once.
const SERVED_MEANWHILE = 4;
// So long a request waits for a connection.
const CONNECT_MS = 3_000;

interface Pool extends EventEmitter {
  _clients: { connection: EventEmitter }[];
}

/** What PostgreSQL refuses to the service from now on, by its codes and in its order. */
function refusalsOf({ app }: TestService): string[] {
  const codes: string[] = [];
  const pool = (app.get(DataSource, { strict: false }).driver as unknown as { master: Pool }).master;
  const hear = ({ connection }: Pool['_clients'][number]) =>
    connection.on('errorMessage', ({ code }: { code: string }) => codes.push(code));
  pool._clients.forEach(hear);
  pool.on('connect', hear);
  return codes;
}

describe('a statement that blocks', () => {
  let service: TestService;
  let senders: Senders;
  let holder: Client;

  beforeAll(async () => {
    service = await startService({ env: { DATABASE_POOL_SIZE: '6' } });
    senders = await makeSenders(service.make);
    holder = new Client({ connectionString: service.database.url });
    await holder.connect();
  });
  afterAll(async () => {
    await holder.end();
    await service.stop();
  });

  const refresh = (n: number) => {
    const { id, secret } = senders.client;
    const form = { grant_type: 'refresh_token', refresh_token: senders.families[n]!.refresh_token };
    return service.http.token(form, { id, secret });
  };
  const token = () => {
    const { id, secret } = senders.client;
    return service.http.token({ grant_type: 'client_credentials' }, { id, secret });
  };
  const link = () => service.http.get('/webhook_portal', { bearer: senders.bearer });

  it('is given up with 503 and Retry-After; others are served meanwhile, and the same again afterwards', async () => {
    // A row that is held for ever, and an insert that takes for ever.
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM grants FOR UPDATE');
    await service.database.query(
      `CREATE FUNCTION take_for_ever() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
       CREATE TRIGGER slow BEFORE INSERT ON portal_links EXECUTE FUNCTION take_for_ever()`,
    );
    const limits = await service.app
      .get(DataSource, { strict: false })
      .query(
        "SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement",
      );
    expect(limits).toEqual([{ lock: '5s', statement: '10s' }]);
    const refusals = refusalsOf(service);
    const givenUp: string[] = [];
    const note = (what: string, work: Promise<Answer>) => work.finally(() => givenUp.push(what));
    const all = [
      ...[refresh(0), refresh(1)].map((work) => note('blocked', work)),
      ...[link(), link()].map((work) => note('slow', work)),
    ];
    let served = 0;
    while (givenUp.length === 0) {
      expect((await token()).status).toBe(200);
      expect((await service.http.get('/health/ready')).status).toBe(200);
      if (givenUp.length === 0) served++;
      await pause(100);
    }
    expect(served).toBeGreaterThan(SERVED_MEANWHILE);
    const answers = await Promise.all(all);
    expect(answers.map((answer) => [answer.status, whatIsWrongWith503(answer)])).toEqual(
      answers.map(() => [503, undefined]),
    );
    expect(givenUp).toEqual(['blocked', 'blocked', 'slow', 'slow']);
    // Each by its own limit, and not by another that happens to run out as well.
    expect([...new Set(refusals)]).toEqual([LOCK_TIMEOUT, STATEMENT_TIMEOUT]);
    await holder.query('ROLLBACK');
    await service.database.query('DROP TRIGGER slow ON portal_links');
    // What was given up is undone: the same token still works, and the family is whole.
    expect([(await refresh(0)).status, (await refresh(1)).status, (await link()).status]).toEqual([
      200, 200, 200,
    ]);
    expect(service.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
  });
});

describe('a row that somebody holds', () => {
  let service: TestService;
  let make: Factory;
  let held: TestClient;
  let free: TestClient;
  let holder: Client;

  beforeAll(async () => {
    // Whoever waits goes on waiting, however long the others take on a busy machine.
    service = await startService({ databaseOptions: { lock_timeout: '0', statement_timeout: '0' } });
    make = new Factory(service);
    [held, free] = [await make.client(), await make.client()];
    holder = new Client({ connectionString: service.database.url });
    await holder.connect();
  });
  afterAll(async () => {
    await holder.end();
    await service.stop();
  });

  const send = (client: TestClient, form: Record<string, string>) =>
    service.http.token(form, { id: client.id, secret: client.secret });

  /** Sends the held request amid others, which must not wait for it; gives its answer after the row is free again. */
  async function amidOthers(
    waiting: () => Promise<Answer>,
    others: () => Promise<Answer>[],
  ): Promise<Answer> {
    let isAnswered = false;
    const before = others();
    const first = waiting().finally(() => (isAnswered = true));
    const answers = await Promise.all([...before, ...others()]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(isAnswered).toBe(false);
    await holder.query('ROLLBACK');
    return first;
  }

  it('of a client makes nobody wait for tokens, the client neither', async () => {
    const token = (client: TestClient) => send(client, { grant_type: 'client_credentials' });
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM clients WHERE id = $1 FOR UPDATE', [held.id]);
    const answers = await Promise.all([token(held), ...Array.from({ length: 20 }, () => token(free))]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await holder.query('ROLLBACK');
  });

  it('of a grant makes no other family wait for its refresh', async () => {
    const family = async (client: TestClient) => (await make.tokens(client, await make.user())).refresh_token;
    const refresh = (client: TestClient, token: string) =>
      send(client, { grant_type: 'refresh_token', refresh_token: token });
    const [mine, ...others] = [
      await family(held),
      await family(free),
      await family(free),
      await family(free),
    ];
    await holder.query('BEGIN');
    const { grantId } = await refreshRecordOf(service, mine);
    const locked = await holder.query('SELECT 1 FROM grants WHERE id = $1 FOR UPDATE', [grantId]);
    expect(locked.rowCount).toBe(1);
    const answer = await amidOthers(
      () => refresh(held, mine),
      () => others.map((token) => refresh(free, token)),
    );
    expect(answer.status).toBe(200);
  });
});

describeLong('a PostgreSQL that falls silent', () => {
  it('holds up nobody for longer than the limits, and is taken up again when it is back', async () => {
    const postgres = await OwnPostgres.start();
    const service = await startInstance(postgres, { DATABASE_POOL_SIZE: '4' });
    const client = await new Factory(service).client();
    const token = () =>
      service.http.token({ grant_type: 'client_credentials' }, { id: client.id, secret: client.secret });
    expect((await token()).status).toBe(200);
    const goOn = await postgres.freeze();
    const limit = HeldTimers.hold(CONNECT_MS);
    try {
      let answered = 0;
      const all = Array.from({ length: 8 }, () => token().finally(() => answered++));
      // Those that hold a connection give it up by themselves; the others wait for a new one, which nobody answers.
      await until('the connections were given up', () => answered >= 1 && limit.count > 0);
      while (answered < all.length) {
        limit.letPass();
        await turns();
      }
      for (const answer of await Promise.all(all)) expect(whatIsWrongWith503(answer)).toBeUndefined();
      // The connections that were lost are not used again: it waits for a new one, and for no longer than that may take.
      let isRefused = false;
      const second = token().finally(() => (isRefused = true));
      await until('it waits for a connection', () => limit.count > 0);
      expect(isRefused).toBe(false);
      limit.letPass();
      expect(whatIsWrongWith503(await second)).toBeUndefined();
      limit.release();
      expect((await service.http.get('/health/ready')).status).toBe(503);
      expect((await service.http.get('/health/live')).status).toBe(200);
    } finally {
      limit.release();
      goOn();
    }
    await until('it is served again', async () => (await token()).status === 200);
    await service.app.close();
    await postgres.drop();
  });
});

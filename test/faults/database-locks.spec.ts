import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Answer } from '../support/http.js';
import { describeLong } from '../support/left-out.js';
import { makeSenders, whatIsWrongWith503, type Senders } from '../support/load.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { startService, startInstance, type TestService } from '../support/test-service.js';
import { Factory, type TestClient } from '../support/factory.js';
import { until } from '../support/until.js';

const LOCK_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 10_000;
// For a machine that is busy with other tests.
const TOLERANCE_MS = 3_000;

jest.setTimeout(60_000);

interface Timed {
  answer: Answer;
  took: number;
}

async function timed(work: Promise<Answer>): Promise<Timed> {
  const begun = performance.now();
  const answer = await work;
  return { answer, took: performance.now() - begun };
}

function expectGivenUp({ answer, took }: Timed, afterMs: number): void {
  expect([answer.status, whatIsWrongWith503(answer)]).toEqual([503, undefined]);
  expect(took).toBeGreaterThan(afterMs - 500);
  expect(took).toBeLessThan(afterMs + TOLERANCE_MS);
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
    await holder.query('SELECT 1 FROM refresh_tokens WHERE retired_at IS NULL FOR UPDATE');
    await service.database.query(
      `CREATE FUNCTION take_for_ever() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
       CREATE TRIGGER slow BEFORE INSERT ON portal_links EXECUTE FUNCTION take_for_ever()`,
    );
    const blocked = [timed(refresh(0)), timed(refresh(1))];
    const slow = [timed(link()), timed(link())];
    let over = false;
    const all = Promise.all([...blocked, ...slow]).finally(() => (over = true));
    let served = 0;
    while (!over) {
      const other = await timed(token());
      expect(other.answer.status).toBe(200);
      expect(other.took).toBeLessThan(TOLERANCE_MS);
      expect((await service.http.get('/health/ready')).status).toBe(200);
      served++;
      await pause(100);
    }
    await all;
    expect(served).toBeGreaterThan(10);
    for (const each of blocked) expectGivenUp(await each, LOCK_TIMEOUT_MS);
    for (const each of slow) expectGivenUp(await each, STATEMENT_TIMEOUT_MS);
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
    service = await startService({});
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
    const begun = performance.now();
    const answers = await Promise.all([...before, ...others()]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(performance.now() - begun).toBeLessThan(TOLERANCE_MS);
    expect(isAnswered).toBe(false);
    await holder.query('ROLLBACK');
    return first;
  }

  it('of a client makes no other client wait for its tokens', async () => {
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM clients WHERE id = $1 FOR UPDATE', [held.id]);
    const token = (client: TestClient) => send(client, { grant_type: 'client_credentials' });
    const answer = await amidOthers(
      () => token(held),
      () => Array.from({ length: 20 }, () => token(free)),
    );
    expect(answer.status).toBe(200);
  });

  it.each([
    [
      'grants',
      `id = (SELECT grant_id FROM refresh_tokens WHERE digest = sha256(convert_to($1::text, 'UTF8')))`,
    ],
    ['clients', 'id = $2::text'],
  ])('of %s makes no other family wait for its refresh', async (table, which) => {
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
    const locked = await holder.query(
      `SELECT 1 FROM ${table} WHERE ${which} AND $1::text <> '' AND $2::text <> '' FOR UPDATE`,
      [mine, held.id],
    );
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
    try {
      const first = await Promise.all(Array.from({ length: 8 }, () => timed(token())));
      for (const { answer, took } of first) {
        expect(whatIsWrongWith503(answer)).toBeUndefined();
        expect(took).toBeLessThan(12_000 + 3_000 + TOLERANCE_MS);
      }
      // The connections that were lost are not used again.
      const second = await timed(token());
      expect(whatIsWrongWith503(second.answer)).toBeUndefined();
      expect(second.took).toBeLessThan(3_000 + TOLERANCE_MS);
      expect((await service.http.get('/health/ready')).status).toBe(503);
      expect((await service.http.get('/health/live')).status).toBe(200);
    } finally {
      goOn();
    }
    await until('it is served again', async () => (await token()).status === 200, 5_000);
    await service.app.close();
    await postgres.drop();
  });
});

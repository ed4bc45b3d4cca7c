import type { EventEmitter } from 'node:events';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { type Answer, Factory, type TestClient, until } from '../support/spec.js';
import { makeSenders, whatIsWrongWith503, type Senders } from '../support/load.js';
import { PATIENT, poolOf, startService, type TestService } from '../support/test-service.js';
import { refreshRecordOf } from '../support/tokens.js';

// SQLSTATE: the lock was not available in time; the statement took too long.
const [LOCK_TIMEOUT, STATEMENT_TIMEOUT] = ['55P03', '57014'];
const SERVED_MEANWHILE = 10;
/** An insert into the links of the portal that takes longer than any limit. */
const SLOW_INSERTS = `
  CREATE FUNCTION take_for_ever() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
  CREATE TRIGGER slow BEFORE INSERT ON portal_links EXECUTE FUNCTION take_for_ever()`;

/** What the types of `pg` do not show of it. */
interface Pool extends EventEmitter {
  _clients: { connection: EventEmitter }[];
}

/** Records the codes of the errors that PostgreSQL returns to the service from now on, in order. */
function refusalsOf({ app }: TestService): string[] {
  const codes: string[] = [];
  const pool = poolOf(app) as unknown as Pool;
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
  const link = () => service.http.get('/webhook_portal', { bearer: senders.bearer });

  it('is refused with 503 and Retry-After, and succeeds afterwards', async () => {
    // A row that stays locked, and an insert that never ends.
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM grants FOR UPDATE');
    await service.database.query(SLOW_INSERTS);
    const limits = await service.app
      .get(DataSource, { strict: false })
      .query(
        "SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement",
      );
    expect(limits).toEqual([{ lock: '5s', statement: '10s' }]);
    const refusals = refusalsOf(service);
    const answers = await Promise.all([refresh(0), refresh(1), link(), link()]);
    expect(answers.map((answer) => [answer.status, whatIsWrongWith503(answer)])).toEqual(
      answers.map(() => [503, undefined]),
    );
    // Each by its own limit, and not by another one that happens to expire as well.
    expect([...new Set(refusals)].sort()).toEqual([LOCK_TIMEOUT, STATEMENT_TIMEOUT]);
    await holder.query('ROLLBACK');
    await service.database.query('DROP TRIGGER slow ON portal_links');
    // The aborted work is rolled back: the same token still works, and the family is intact.
    expect([(await refresh(0)).status, (await refresh(1)).status, (await link()).status]).toEqual([
      200, 200, 200,
    ]);
    expect(service.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
  });
});

describe('a locked row', () => {
  let service: TestService;
  let make: Factory;
  let held: TestClient;
  let free: TestClient;
  let holder: Client;

  beforeAll(async () => {
    // The waiting request keeps waiting, however long the others take on a busy machine.
    service = await startService({
      env: { DATABASE_POOL_SIZE: '6' },
      databaseOptions: PATIENT,
    });
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

  /** Sends the blocked request among others, which must not wait for it; returns its response after the row is unlocked. */
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

  it('of a grant and inserts that take long leave the other connections to other requests', async () => {
    const { client, families, bearer } = await makeSenders(make);
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM grants FOR UPDATE');
    await service.database.query(SLOW_INSERTS);
    let givenUp = 0;
    const refresh = (n: number) =>
      send(client, { grant_type: 'refresh_token', refresh_token: families[n]!.refresh_token });
    const link = () => service.http.get('/webhook_portal', { bearer });
    const all = [refresh(0), refresh(1), link(), link()].map((work) => work.finally(() => givenUp++));
    const STUCK = "datname = current_database() AND (wait_event_type = 'Lock' OR wait_event = 'PgSleep')";
    await until('all are stuck', async () => {
      const stuck = await service.database.query(`SELECT 1 FROM pg_stat_activity WHERE ${STUCK}`);
      return stuck.length >= all.length;
    });
    for (let n = 0; n < SERVED_MEANWHILE; n++) {
      expect((await send(free, { grant_type: 'client_credentials' })).status).toBe(200);
      expect((await service.http.get('/notifications', { bearer })).status).toBe(200);
    }
    expect(givenUp).toBe(0);
    await holder.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${STUCK}`);
    for (const answer of await Promise.all(all)) expect(whatIsWrongWith503(answer)).toBeUndefined();
    await holder.query('ROLLBACK');
    await service.database.query('DROP TRIGGER slow ON portal_links');
  });

  it('of a client delays no token request, not even the client’s own', async () => {
    const token = (client: TestClient) => send(client, { grant_type: 'client_credentials' });
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM clients WHERE id = $1 FOR UPDATE', [held.id]);
    const answers = await Promise.all([token(held), ...Array.from({ length: 20 }, () => token(free))]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await holder.query('ROLLBACK');
  });

  it('of a grant delays no refresh of another family', async () => {
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

import { DataSource } from 'typeorm';
import { makeSenders } from '../support/load.js';
import { startService, type TestService } from '../support/test-service.js';

interface Planned {
  name: string;
  generic: number;
  custom: number;
}

// PostgreSQL tries so many plans for the parameters at hand before it may settle for one.
const TRIED = 5;

let service: TestService;

beforeAll(async () => {
  service = await startService({ env: { DATABASE_POOL_SIZE: '2' } });
});
afterAll(() => service.stop());

it('statements that many requests wait for are not planned for every call, however few they serve', async () => {
  const { client, families, introspecting } = await makeSenders(service.make);
  const basic = { id: client.id, secret: client.secret };
  let refreshToken = families[0]!.refresh_token;
  for (let n = 0; n < TRIED * 3; n++) {
    const token = await service.http.token({ grant_type: 'client_credentials' }, basic);
    const refreshed = await service.http.token(
      { grant_type: 'refresh_token', refresh_token: refreshToken },
      basic,
    );
    const { access_token: bearer, refresh_token: next } = refreshed.json as Record<string, string>;
    const introspected = await service.http.send('/o/introspect/', {
      form: { token: bearer! },
      basic: { id: introspecting.id, secret: introspecting.secret },
    });
    const users = await service.http.get('/v2/users', { bearer: bearer! });
    expect([token, refreshed, introspected, users].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    refreshToken = next!;
  }
  const database = service.app.get(DataSource, { strict: false });
  const ofConnection = (): Promise<Planned[]> =>
    database.query(
      `SELECT name, generic_plans::int AS generic, custom_plans::int AS custom
         FROM pg_prepared_statements, pg_sleep(0.2) WHERE generic_plans + custom_plans > $1`,
      [TRIED],
    );
  const planned = (await Promise.all([ofConnection(), ofConnection()])).flat();
  expect(planned.map(({ name }) => name).sort()).toEqual(
    expect.arrayContaining([
      'client tokens FOR SHARE SKIP LOCKED',
      'live access tokens',
      'refresh tokens',
      'rotation SKIP LOCKED',
    ]),
  );
  expect(planned.filter(({ custom }) => custom > TRIED)).toEqual([]);
});

it('a rotation reads nothing of the tokens that its family retired before', async () => {
  const { client, families } = await makeSenders(service.make);
  let refreshToken = families[0]!.refresh_token;
  const rotate = async () => {
    const answer = await service.http.token(
      { grant_type: 'refresh_token', refresh_token: refreshToken },
      { id: client.id, secret: client.secret },
    );
    refreshToken = (answer.json as Record<string, string>).refresh_token!;
  };
  // The planner is to see a large table of long families, and to settle for a plan.
  await service.database.query(
    `SET session_replication_role = replica;
     INSERT INTO refresh_tokens (digest, grant_id, expires_at, retired_at, successor_digest)
     SELECT sha256(n::text::bytea), 'grant ' || n % 100, now() + interval '1 day', now(), sha256('next')
       FROM generate_series(1, 20000) n;
     RESET session_replication_role;
     ANALYZE refresh_tokens`,
  );
  for (let n = 0; n < TRIED * 6; n++) await rotate();
  const read = () =>
    readBy(
      service,
      `SELECT coalesce(sum(idx_tup_read), 0)::int AS read FROM pg_stat_user_indexes
        WHERE relname = 'refresh_tokens' AND indexrelname <> 'refresh_tokens_pkey'`,
    );
  const before = await read();
  for (let n = 0; n < TRIED; n++) await rotate();
  expect((await read()) - before).toBe(0);
});

it('a plan made while the tables were empty still finds its rows by index when they have grown', async () => {
  const tables = ['access_tokens', 'refresh_tokens', 'sealed_successors', 'grants', 'consents'];
  const young = await startService({ env: { DATABASE_POOL_SIZE: '2' } });
  try {
    const { database, make, http } = young;
    for (const table of tables) {
      await database.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
      await database.query(`VACUUM ANALYZE ${table}`);
    }
    const { client, families } = await makeSenders(make);
    const basic = { id: client.id, secret: client.secret };
    let refreshToken = families[0]!.refresh_token;
    const useAll = async () => {
      const answer = await http.token({ grant_type: 'refresh_token', refresh_token: refreshToken }, basic);
      const { access_token: bearer, refresh_token: next } = answer.json as Record<string, string>;
      const users = await http.get('/v2/users', { bearer: bearer! });
      expect([answer.status, users.status]).toEqual([200, 200]);
      refreshToken = next!;
    };
    for (let n = 0; n < TRIED * 6; n++) await useAll();
    await database.query(
      `SET session_replication_role = replica;
       INSERT INTO refresh_tokens (digest, grant_id, expires_at)
       SELECT sha256(n::text::bytea), 'grant ' || n, now() + interval '1 day' FROM generate_series(1, 20000) n;
       INSERT INTO sealed_successors (digest, grace_ends_at, sealed)
       SELECT sha256(n::text::bytea), now() + interval '1 day', '' FROM generate_series(1, 20000) n;
       INSERT INTO access_tokens (digest, client_id, scopes, expires_at)
       SELECT sha256(n::text::bytea), 'client', '{}', now() + interval '1 day' FROM generate_series(1, 20000) n;
       RESET session_replication_role`,
    );
    const read = () =>
      readBy(
        young,
        `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read FROM pg_stat_user_tables
          WHERE relname IN ('${tables.join("', '")}')`,
      );
    const before = await read();
    for (let n = 0; n < TRIED; n++) await useAll();
    expect((await read()) - before).toBeLessThan(1000);
  } finally {
    await young.stop();
  }
});

/** What the service's two connections have read so far, by the statistics that `sql` sums up. */
async function readBy({ app, database }: TestService, sql: string): Promise<number> {
  const source = app.get(DataSource, { strict: false });
  const told = () => source.query('SELECT pg_stat_force_next_flush(), pg_sleep(0.2)');
  await Promise.all([told(), told()]);
  const [row] = await database.query<{ read: number }>(sql);
  return row!.read;
}

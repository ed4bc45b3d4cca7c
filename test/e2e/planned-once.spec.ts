import { DataSource } from 'typeorm';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { WorkerStatements } from '#platform/database/queries/worker-statements.js';
import { makeSenders } from '../support/load.js';
import { refresh } from '../support/oauth.js';
import { rowCounts } from '../support/refusals.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';
import { startService, type TestService, useService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { Webhooks } from '../support/webhooks.js';

interface Planned {
  name: string;
  generic: number;
  custom: number;
}

// PostgreSQL uses this many custom plans before it may choose a generic one.
const TRIED = 5;

const service = useService({ env: { DATABASE_POOL_SIZE: '2' } });

beforeAll(async () => {
  await leaveOutScheduledPurges(service);
});

it('frequent prepared statements are not planned for every call, however few requests they serve', async () => {
  const { client, families, introspecting } = await makeSenders(service.make);
  let refreshToken = families[0]!.refresh_token;
  for (let n = 0; n < TRIED * 3; n++) {
    const token = await service.http.token({ grant_type: 'client_credentials' }, client);
    const refreshed = await refresh(service.http, client, refreshToken);
    const { access_token: bearer, refresh_token: next } = refreshed.json as Record<string, string>;
    // An access change makes the instance query the database again.
    await service.database.query('UPDATE users SET name = name');
    const form = { token: bearer! };
    const introspected = await service.http.send('/o/introspect/', { form, basic: introspecting });
    const users = await service.http.get('/v2/users', { bearer: bearer! });
    const ofClient = { bearer: token.json.access_token as string };
    const listed = await service.http.get('/v2/users', ofClient);
    const link = await service.http.get('/webhook_portal', ofClient);
    expect([token, refreshed, introspected, users, listed, link].map(({ status }) => status)).toEqual(
      Array.from({ length: 6 }, () => 200),
    );
    refreshToken = next!;
  }
  const planned = await onEachConnection<Planned>(
    service,
    `SELECT name, generic_plans::int AS generic, custom_plans::int AS custom
       FROM pg_prepared_statements WHERE generic_plans + custom_plans > ${TRIED}`,
  );
  expect(planned.map(({ name }) => name).sort()).toEqual(
    expect.arrayContaining([
      'grants of refresh tokens',
      'live consents, rising 26',
      'portal link',
      'rotation SKIP LOCKED',
      'what access tokens depend on',
    ]),
  );
  expect(planned.filter(({ custom }) => custom > TRIED)).toEqual([]);
});

it('an event is stored by a statement whose plan is kept, too', async () => {
  const webhooks = await Webhooks.start(service);
  const user = await service.make.user();
  const statements = service.app.get(WorkerStatements, { strict: false });
  await until('a connection has used its plan twice', async () => {
    expect((await webhooks.publish(user.id)).status).toBe(202);
    const planned = await statements.run<Planned>(
      'plans',
      `SELECT name, generic_plans::int AS generic, custom_plans::int AS custom FROM pg_prepared_statements WHERE name = 'publishing'`,
      [],
    );
    expect(planned.filter(({ custom }) => custom > 0)).toEqual([]);
    return planned.some(({ generic }) => generic >= 2);
  });
});

it('a rotation updates one row in place, without writing to an index and without adding a row', async () => {
  const { client, families } = await makeSenders(service.make);
  let refreshToken = families[0]!.refresh_token;
  const changes = async () => {
    await onEachConnection(service, 'SELECT pg_stat_force_next_flush()');
    const [row] = await service.database.query<{ updates: number; inPlace: number }>(
      `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS "inPlace" FROM pg_stat_user_tables WHERE relname = 'grants'`,
    );
    return { ...row!, rows: await rowCounts(service) };
  };
  const before = await changes();
  const rotations = 50;
  for (let n = 0; n < rotations; n++) {
    const answer = await refresh(service.http, client, refreshToken);
    refreshToken = (answer.json as Record<string, string>).refresh_token!;
  }
  const after = await changes();
  expect(after.updates - before.updates).toBe(rotations);
  // Old versions of a row stay in its page while anything else that reads this database may still see them, such as an autovacuum
  // passing by; once the page is full, one update goes elsewhere. With an index in the way no update would be in place.
  expect(after.inPlace - before.inPlace).toBeGreaterThanOrEqual(rotations * 0.9);
  expect(after.rows).toEqual(before.rows);
});

it('a plan from when the tables were empty still finds its rows by index after they have grown', async () => {
  const tables = ['access_changes', 'revoked_access_tokens', 'grants', 'consents'];
  const young = await startService({ env: { DATABASE_POOL_SIZE: '2' } });
  try {
    await leaveOutScheduledPurges(young);
    const { database, make, http } = young;
    for (const table of tables) {
      await database.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
      await database.query(`VACUUM ANALYZE ${table}`);
    }
    const { client, families } = await makeSenders(make);
    let refreshToken = families[0]!.refresh_token;
    const useAll = async () => {
      const answer = await refresh(http, client, refreshToken);
      const { access_token: bearer, refresh_token: next } = answer.json as Record<string, string>;
      const users = await http.get('/v2/users', { bearer: bearer! });
      expect([answer.status, users.status]).toEqual([200, 200]);
      refreshToken = next!;
    };
    for (let n = 0; n < TRIED * 6; n++) await useAll();
    await database.query(
      `SET session_replication_role = replica;
       INSERT INTO access_changes (ids) SELECT ARRAY['id ' || n] FROM generate_series(1, 20000) n;
       INSERT INTO revoked_access_tokens (id, expires_at)
       SELECT 'id ' || n, now() + interval '1 day' FROM generate_series(1, 20000) n;
       INSERT INTO grants (id, client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position,
                           access_expires_at, refresh_expires_at, look_again_at)
       SELECT 'grnt' || lpad(n::text, 26, '0'), 'client', 'user', '{}', now() + interval '1 day', 1, 0, 0, now(), now(), now()
         FROM generate_series(1, 20000) n;
       RESET session_replication_role`,
    );
    // The instance reads new changes in the background, and again while a transaction from before them is open anywhere.
    const changes = young.app.get(AccessChanges, { strict: false });
    const [last] = await database.query<{ xid: number }>('SELECT pg_current_xact_id()::text::float8 AS xid');
    await until(
      'the changes are read for the last time',
      // Also for an instance that has to listen anew.
      () => changes.isTrusted && changes.durableStamp.position > last!.xid,
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

/** Returns how much the service's connections have read so far, by the statistics that `sql` sums up. */
async function readBy(service: TestService, sql: string): Promise<number> {
  // A connection may hold back its statistics for a second and more.
  const flush = 'SELECT pg_stat_force_next_flush()';
  await onEachConnection(service, flush);
  await service.app.get(Listener, { strict: false }).query({ text: flush, values: [] });
  const [row] = await service.database.query<{ read: number }>(sql);
  return row!.read;
}

/** Runs the query on each of the service's two connections, and returns the rows of both. */
async function onEachConnection<T>({ app }: TestService, sql: string): Promise<T[]> {
  const source = app.get(DataSource, { strict: false });
  // Two query runners at a time never share a connection.
  const held = [source.createQueryRunner(), source.createQueryRunner()];
  await Promise.all(held.map((each) => each.connect()));
  try {
    return (await Promise.all(held.map((each) => each.query(sql) as Promise<T[]>))).flat();
  } finally {
    await Promise.all(held.map((each) => each.release()));
  }
}

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { Factory, Http, PASSWORD, until } from '../support/spec.js';
import { InstalledPostgres, lackingPostgres } from '../support/installed-postgres.js';
import { describeUnless } from '../support/left-out.js';
import { SpawnedService } from '../support/spawned-service.js';
import type { TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';

const PASSWORDS = { owner: 'the-password-of-the-owner', service: "the service's password" };

describeUnless(lackingPostgres, 'the roles created by deploy/postgres/10-roles.sh', () => {
  let postgres: InstalledPostgres;
  let service: Client;
  let folder: string;

  const urlOf = (role: 'owner' | 'service') =>
    `postgres://charging_${role}:${encodeURIComponent(PASSWORDS[role])}@127.0.0.1:${postgres.port}/charging_data`;

  const run = (program: string, args: string[], env: Record<string, string>) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile(program, args, { env: { PATH: postgres.path, ...env } }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });
  const operator = (args: string[], role: 'owner' | 'service', env: Record<string, string> = {}) =>
    run(process.execPath, ['dist/src/operator.js', ...args], { DATABASE_URL: urlOf(role), ...env });
  /** With the URL in a file, as in docker-compose.yml. */
  const migrate = async (role: 'owner' | 'service' = 'owner', to = 'charging_service') => {
    const file = path.join(folder, `${role}-url`);
    await writeFile(file, urlOf(role));
    return operator(['migrate', '--service-role', to], role, { DATABASE_URL: '', DATABASE_URL_FILE: file });
  };

  const makeRoles = (ownerPassword = PASSWORDS.owner) => {
    const superuser = new URL(postgres.url('postgres'));
    return run('/bin/bash', ['deploy/postgres/10-roles.sh'], {
      PGHOST: superuser.hostname,
      PGPORT: superuser.port,
      PGPASSWORD: superuser.password,
      POSTGRES_USER: superuser.username,
      POSTGRES_OWNER_PASSWORD: ownerPassword,
      POSTGRES_SERVICE_PASSWORD_FILE: path.join(folder, 'password'),
    });
  };

  beforeAll(async () => {
    postgres = await InstalledPostgres.start();
    folder = await mkdtemp(path.join(tmpdir(), 'charging-roles-'));
    await writeFile(path.join(folder, 'password'), `${PASSWORDS.service}\n`);
    expect(await makeRoles()).toMatchObject({ code: 0, err: '' });
    const migrated = await migrate();
    expect([migrated.code, migrated.err]).toEqual([0, '']);
    service = new Client({ connectionString: urlOf('service') });
    await service.connect();
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await service?.end();
    await postgres?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const refused = (sql: string) =>
    service.query(sql).then(
      () => `${sql}: done`,
      (error: { code?: string; message: string }) => (error.code === '42501' ? 'refused' : error.message),
    );

  const logged = () => readFile(path.join(postgres.folder, 'postgres.log'), 'utf8');

  it('can be made again: what is there stays, with the passwords that are given, none of which a server that logs everything writes', async () => {
    await postgres.query('postgres', "ALTER SYSTEM SET log_statement = 'all'");
    await postgres.query('postgres', 'SELECT pg_reload_conf()');
    await until('the server logs every statement', async () => {
      await postgres.query('postgres', "SELECT 'seen'");
      return (await logged()).includes("SELECT 'seen'");
    });
    try {
      expect((await migrate()).code).toBe(0);
      // Half of it, as after a run that was killed.
      await postgres.query('postgres', 'GRANT CONNECT ON DATABASE charging_data TO PUBLIC');
      expect(await makeRoles('another password')).toMatchObject({ code: 0, err: '' });
      expect((await migrate()).err).toContain('password authentication failed');
      expect(await makeRoles()).toMatchObject({ code: 0, err: '' });
      expect(JSON.parse((await migrate()).out)).toEqual({ migrations_run: [] });
      const [{ open }] = (await postgres.query(
        'postgres',
        "SELECT has_database_privilege('public', 'charging_data', 'CONNECT') AS open",
      )) as [{ open: boolean }];
      expect(open).toBe(false);
      expect(await logged()).not.toMatch(/another password|the-password-of-the-owner|the service's password/);
    } finally {
      await postgres.query('postgres', 'ALTER SYSTEM RESET log_statement');
      await postgres.query('postgres', 'SELECT pg_reload_conf()');
    }
  });

  it('are not made for a database of somebody else', async () => {
    await postgres.query('postgres', 'ALTER DATABASE charging_data OWNER TO charging');
    try {
      const refusedRun = await makeRoles();
      expect([refusedRun.code === 0, refusedRun.err]).toEqual([
        false,
        expect.stringContaining('does not belong to charging_owner'),
      ]);
    } finally {
      await postgres.query('postgres', 'ALTER DATABASE charging_data OWNER TO charging_owner');
    }
  });

  it('have no privileges over the server', async () => {
    const roles = await postgres.query<Record<string, unknown>>(
      'postgres',
      `SELECT rolname, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS power,
              (SELECT count(*)::int FROM pg_auth_members WHERE member = r.oid) AS memberships
         FROM pg_roles r WHERE rolname ~ '^charging_' ORDER BY 1`,
    );
    const none = { power: false, memberships: 0 };
    expect(roles).toEqual([
      { rolname: 'charging_owner', ...none },
      { rolname: 'charging_service', ...none },
    ]);
  });

  it.each([
    ["UPDATE audit_events SET action = 'x'"],
    ['DELETE FROM audit_events'],
    ['DELETE FROM partitions.audit_events_other'],
    ["SELECT turn_partitions('audit_events', 'month', 2, now(), 'first_audit_event_id')"],
    ['TRUNCATE audit_events'],
    ["UPDATE consent_versions SET scopes = '{}'"],
    ['DELETE FROM consent_versions'],
    ["UPDATE consent_words SET language = 'fr'"],
    ['DELETE FROM consent_words'],
    ['ALTER TABLE audit_events DISABLE TRIGGER ALL'],
    ['DROP TRIGGER audit_events_stay ON audit_events'],
    ['CREATE OR REPLACE FUNCTION protect_audit_events() RETURNS trigger LANGUAGE sql AS $$SELECT 1$$'],
    ['ALTER TABLE audit_events OWNER TO charging_service'],
    ['SET session_replication_role = replica'],
    ['SET ROLE charging_owner'],
    ['CREATE TABLE another (n integer)'],
    ['CREATE TEMPORARY TABLE another (n integer)'],
    ['CREATE SCHEMA another'],
    ['ALTER TABLE users ADD COLUMN another integer'],
    ['DROP TABLE sessions'],
    ['TRUNCATE sessions'],
    ["INSERT INTO migrations (timestamp, name) VALUES (1, 'x')"],
    ["INSERT INTO required_migrations (name) VALUES ('x')"],
    ['DELETE FROM required_migrations'],
    ['COPY users TO PROGRAM $$cat$$'],
  ])('prevent the service from running: %s', async (sql) => {
    expect(await refused(sql)).toMatch(/^refused$|must be (owner|able)|permission denied/);
  });

  it('protect the audit log and the record of consents from functions that everybody could call', async () => {
    const { rows } = await postgres
      .query<{ open: boolean }>(
        'charging_data',
        `SELECT bool_or(has_function_privilege('public', oid, 'EXECUTE')) AS open FROM pg_proc WHERE prosecdef`,
      )
      .then((found) => ({ rows: found }));
    expect(rows).toEqual([{ open: false }]);
    const recent = await service.query('SELECT turn_audit_events(2)::int AS removed');
    expect(recent.rows).toEqual([{ removed: 0 }]);
  });

  it('are checked: migrating refuses a service role that owns the schema or is a superuser', async () => {
    for (const [role, words] of [
      ['charging_owner', 'has too many privileges'],
      ['charging', 'has too many privileges'],
      ['nobody_like_that', 'There is no role nobody_like_that'],
    ] as const) {
      const { code, err } = await migrate('owner', role);
      expect([role, code]).toEqual([role, 1]);
      expect(err).toContain(words);
    }
  });

  it('let the service read and write tables that the owner creates later, from the start', async () => {
    const owner = new Client({ connectionString: urlOf('owner') });
    await owner.connect();
    await owner.query('CREATE TABLE made_later (n integer)');
    await service.query('INSERT INTO made_later VALUES (1)');
    await owner.query('DROP TABLE made_later');
    await owner.end();
    expect(JSON.parse((await migrate()).out)).toEqual({ migrations_run: [] });
    expect(await refused("UPDATE audit_events SET action = 'x'")).toBe('refused');
  });

  it('are all that the service needs: it starts, serves, hears announcements, erases and purges, and its tool works', async () => {
    const port = await freePort();
    const env = {
      NODE_ENV: 'production',
      PORT: String(port),
      BASE_URL: `http://127.0.0.1:${port}`,
      DATABASE_URL: urlOf('service'),
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      MIGRATE_ON_START: 'false',
      BOOTSTRAP_OPERATOR_EMAIL: 'first@mail.example',
      BOOTSTRAP_OPERATOR_PASSWORD: PASSWORD,
    };
    const spawned = await new SpawnedService(env).ready();
    const http = new Http(env.BASE_URL);
    expect((await http.get('/health/ready')).status).toBe(200);
    const database = { url: urlOf('service') } as TestDatabase;
    const maker = await startInstance(database, { BASE_URL: http.url });
    try {
      const make = new Factory({ ...maker, http, url: http.url });
      const [client, user] = [await make.client(), await make.user()];
      const tokens = await make.tokens(client, user);
      expect((await http.get('/v2/users', { bearer: tokens.access_token })).status).toBe(200);
      // Revoked through one process; the other instance hears of it.
      const [key] = await postgres.query<{ id: string }>(
        'charging_data',
        'SELECT id FROM token_keys WHERE revoked_at IS NULL',
      );
      const revoked = await operator(['revoke-token-key', key!.id], 'service', env);
      expect(revoked).toMatchObject({ code: 0, err: '' });
      await until(
        'the revocation is heard of',
        async () => (await http.get('/v2/users', { bearer: tokens.access_token })).status === 401,
      );
      const bearer = await make.adminToken();
      expect((await http.send(`/admin/users/${user.id}`, { method: 'DELETE', bearer })).status).toBe(204);
      const auditLog = await http.get(`/admin/audit_events?subject=${user.id}`, { bearer });
      expect((auditLog.json as unknown as { action: string; after: unknown }[])[0]!.action).toBe(
        'user.erased',
      );
      expect(auditLog.text).not.toContain(user.email);
    } finally {
      await maker.app.close();
    }
    // Entries older than a year are removed, although the service itself may not delete them.
    await service.query(
      `INSERT INTO audit_events (id, actor_type, action, subject_type, subject_id)
       VALUES (first_audit_event_id(now() - interval '366 days') || repeat('0', 16), 'service', 'user.updated', 'user', 'aged')`,
    );
    expect(await operator(['purge'], 'service', env)).toMatchObject({ code: 0, err: '' });
    const aged = await service.query(
      "SELECT count(*)::int, count(*) FILTER (WHERE subject_id = 'aged')::int AS aged FROM audit_events",
    );
    expect(aged.rows).toEqual([{ count: expect.any(Number), aged: 0 }]);
    expect((aged.rows as { count: number }[])[0]!.count).toBeGreaterThan(0);
    expect(await spawned.stop()).toBe(0);
    expect(spawned.printed).not.toMatch(/"level":"(error|fatal)"|permission denied/);
  });

  it('prevent the service from migrating, which it reports', async () => {
    await postgres.query(
      'charging_data',
      "UPDATE migrations SET name = 'missing ' || name WHERE name ~ '^Mail'",
    );
    const { code, err } = await operator(['migrate'], 'service');
    expect(code).toBe(1);
    expect(err).toMatch(
      /belong to the role charging_owner, which has to run the migrations, not charging_service/,
    );
    // It is the role that is wrong: to the owner the table is just there already.
    expect((await migrate()).err).toMatch(/relation "mails" already exists/);
    await postgres.query('charging_data', "UPDATE migrations SET name = replace(name, 'missing ', '')");
    expect((await migrate()).code).toBe(0);
  });
});

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { migrate } from '#platform/database/migrations/migrate.js';
import { MIGRATIONS } from '../../migrations/index.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { Factory, type TestClient, type Tokens } from '../support/factory.js';
import { type Answer, Http, TYPE, until, WEBHOOK_ENV } from '../support/spec.js';
import { InstalledPostgres, lackingPostgres } from '../support/installed-postgres.js';
import { describeUnless } from '../support/left-out.js';
import { Receiver } from '../support/receiver.js';
import { SpawnedService } from '../support/spawned-service.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY, type TestInstance } from '../support/test-service.js';

// This file starts two PostgreSQL servers and three instances of the service, one after the other.
const LOOPS = 4;

describeUnless(lackingPostgres, 'backup and restore', () => {
  let postgres: InstalledPostgres;
  let receiver: Receiver;
  let status = 503;
  let live: TestInstance;
  let make: Factory;
  let client: TestClient;
  let operator: TestClient;
  let user: UserEntity;

  beforeAll(async () => {
    postgres = await InstalledPostgres.start();
    receiver = await Receiver.start((response) => void response.writeHead(status).end());
    await postgres.query('postgres', 'CREATE DATABASE live');
    const url = postgres.url('live');
    await migrate(url, async () => undefined);
    const database = { url, query: async () => [], drop: async () => undefined };
    live = await startInstance(database, { ...WEBHOOK_ENV, WEBHOOK_RETRY_SCHEDULE_SECONDS: '1,3600' });
    make = new Factory(live);
    client = await make.client();
    operator = await make.operatorClient();
    user = await make.user();
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await live?.app.close();
    await receiver?.stop();
    await postgres?.remove();
  });

  const basic = ({ id, secret }: TestClient) => ({ id, secret });
  const refresh = (http: Http, tokens: Tokens) =>
    http.token({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token }, basic(client));
  const isActive = async (http: Http, token: string): Promise<boolean> => {
    const answer = await http.send('/o/introspect/', { form: { token }, basic: basic(operator) });
    return answer.json.active as boolean;
  };
  const environment = (databaseUrl: string, port: number) => ({
    ...WEBHOOK_ENV,
    NODE_ENV: 'production',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
  });

  /** Starts the built service on a restored database. */
  async function serviceOn(databaseUrl: string) {
    const port = await freePort();
    const service = await new SpawnedService(environment(databaseUrl, port)).ready();
    return { service, http: new Http(`http://127.0.0.1:${port}`) };
  }

  /** Sends token requests, refreshes and events continuously until stopped; returns the wrong responses. */
  function load(families: Tokens[], bearer: string) {
    let running = true;
    const wrong: string[] = [];
    const served = { token: 0, refresh: 0, event: 0 };
    const judge = (kind: keyof typeof served, { status: answered, text }: Answer) => {
      if (answered === 200 || answered === 202) served[kind]++;
      else wrong.push(`${kind}: ${answered} ${text}`);
    };
    const event = { type: TYPE, user_id: user.id, timestamp: '2026-01-01T00:00:00Z', data: {} };
    const loops = Array.from({ length: LOOPS }, async (_, n) => {
      while (running) {
        judge('token', await live.http.token({ grant_type: 'client_credentials' }, basic(client)));
        judge('event', await live.http.send('/v2/events', { bearer, json: event }));
        const answer = await refresh(live.http, families[n]!);
        judge('refresh', answer);
        if (answer.status === 200) families[n] = answer.json as Tokens;
      }
    });
    return {
      served,
      stop: async () => {
        running = false;
        await Promise.all(loops);
        expect(wrong).toEqual([]);
      },
    };
  }

  it('turn a dump taken under load into a working service: tokens, consents, deliveries and the audit log are back, later changes are undone', async () => {
    const bearer = await make.adminToken();
    const endpoint = await live.http.send(`/admin/clients/${client.id}/webhook_endpoints`, {
      bearer,
      json: { url: receiver.url('/hook'), event_types: [TYPE] },
    });
    expect(endpoint.status).toBe(201);
    const kept = await make.tokens(client, user);
    const withdrawn = await make.tokens(client, await make.user());
    const families: Tokens[] = [];
    for (let n = 0; n < LOOPS; n++) families.push(await make.tokens(client, user));
    const requests = load(families, bearer);
    const failedOnce = (database: string) =>
      postgres.query<{ id: string }>(
        database,
        "SELECT id FROM deliveries WHERE state = 'pending' AND attempts > 0 AND retries < 2",
      );
    await until('deliveries have failed', async () => (await failedOnce('live')).length >= 5);
    const dump = path.join(postgres.folder, 'live.dump');
    await postgres.run('pg_dump', '--format=custom', `--file=${dump}`, `--dbname=${postgres.url('live')}`);
    const duringDump = { ...requests.served };
    await until('more was served since', () =>
      Object.entries(requests.served).every(([kind, n]) => n > duringDump[kind as keyof typeof duringDump]),
    );
    await requests.stop();
    // After the backup one user withdraws consent, another consents, and one token is rotated.
    const rotated = (await refresh(live.http, kept)).json as Tokens;
    const given = await make.tokens(client, await make.user());
    const revoked = { token: withdrawn.refresh_token, client_id: client.id, client_secret: client.secret };
    expect((await live.http.send('/o/revoke_token/', { form: revoked })).status).toBe(200);
    expect(await isActive(live.http, withdrawn.access_token)).toBe(false);

    await postgres.query('postgres', 'CREATE DATABASE restored TEMPLATE template0');
    const into = `--dbname=${postgres.url('restored')}`;
    await postgres.run('pg_restore', '--exit-on-error', '--single-transaction', '--no-owner', into, dump);
    const before = await failedOnce('restored');
    expect(before.length).toBeGreaterThan(0);
    status = 200;
    receiver.requests.length = 0;
    const { service, http } = await serviceOn(postgres.url('restored'));

    const [{ n: migrations }] = (await postgres.query<{ n: number }>(
      'restored',
      'SELECT count(*)::int AS n FROM migrations',
    )) as [{ n: number }];
    expect(migrations).toBe(MIGRATIONS.length);
    expect(await isActive(http, kept.access_token)).toBe(true);
    const users = await http.get('/v2/users', { bearer: kept.access_token });
    expect(users.json).toMatchObject([
      { id: user.id, scopes: expect.arrayContaining(client.scopes) as string[] },
    ]);
    // Due deliveries are sent with the same id, and signed with a secret that only ENCRYPTION_KEY opens.
    const [first] = before;
    await until('it can be resent', async () => {
      const resend = await http.send(`/admin/deliveries/${first!.id}/resend`, { bearer, json: {} });
      // It may be under way already: the service attempts what is due when it starts.
      expect([202, 409]).toContain(resend.status);
      return resend.status === 202;
    });
    await until('the delivery arrives', () =>
      receiver.requests.some(({ headers }) => headers['webhook-id'] === first!.id),
    );
    for (const change of [
      'UPDATE audit_events SET actor_id = NULL',
      'DELETE FROM audit_events',
      'TRUNCATE audit_events',
    ])
      await expect(postgres.query('restored', change)).rejects.toThrow(/audit/);
    expect((await http.get(`/admin/audit_events?subject=${client.id}`, { bearer })).json).not.toEqual([]);

    // As docs/backup.md says: tokens that were revoked after the backup are live again, and tokens issued after it are unknown.
    expect(await isActive(http, withdrawn.access_token)).toBe(true);
    for (const later of [rotated, given]) {
      expect(await isActive(http, later.access_token)).toBe(false);
      expect(await refresh(http, later)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    }
    expect((await refresh(http, kept)).status).toBe(200);
    const keys = await postgres.query<{ id: string }>(
      'restored',
      'SELECT id FROM token_keys WHERE revoked_at IS NULL',
    );
    for (const { id } of keys) {
      await promisify(execFile)(process.execPath, ['dist/src/operator.js', 'revoke-token-key', id], {
        env: { PATH: process.env.PATH, ...environment(postgres.url('restored'), 3000) },
      });
    }
    expect(await isActive(http, withdrawn.access_token)).toBe(false);
    expect(await service.stop()).toBe(0);
  });

  it('recover the state between two revocations from a base backup and the archived WAL', async () => {
    const [first, second] = [await make.tokens(client, user), await make.tokens(client, user)];
    const revoke = async ({ refresh_token: token }: Tokens) => {
      const form = { token, client_id: client.id, client_secret: client.secret };
      expect((await live.http.send('/o/revoke_token/', { form })).status).toBe(200);
    };
    const copy = path.join(postgres.folder, 'copy');
    const from = `--dbname=${postgres.url('postgres')}`;
    await postgres.run('pg_basebackup', from, `--pgdata=${copy}`, '--checkpoint=fast', '--no-sync');
    await revoke(first);
    const [moment] = await postgres.query<{ at: string }>('live', 'SELECT clock_timestamp()::text AS at');
    await revoke(second);
    const given = await make.tokens(client, await make.user());
    const [last] = await postgres.query<{ file: string }>(
      'live',
      'SELECT pg_walfile_name(pg_switch_wal()) AS file',
    );
    await until('the WAL is archived', async () => {
      const [row] = await postgres.query<{ done: boolean }>(
        'live',
        `SELECT last_archived_wal >= '${last!.file}' AS done FROM pg_stat_archiver`,
      );
      return row!.done;
    });

    const port = await freePort();
    await postgres.recover('copy', port, moment!.at);
    const { service, http } = await serviceOn(postgres.url('live', port));
    expect(await isActive(http, first.access_token)).toBe(false);
    expect(await isActive(http, second.access_token)).toBe(true);
    expect(await isActive(live.http, second.access_token)).toBe(false);
    // Issued after that moment.
    expect(await isActive(http, given.access_token)).toBe(false);
    expect(await isActive(live.http, given.access_token)).toBe(true);
    expect(await service.stop()).toBe(0);
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATIONS } from '../../migrations/index.js';
import { backfillInBatches } from '../../migrations/support/backfill.js';
import { createIndexConcurrently } from '../../migrations/support/concurrent-index.js';
import { requireMigration } from '../../migrations/support/required-migration.js';
import { migrate } from '#platform/database/migrations/migrate.js';
import { BrowserSession, Factory, Http, PASSWORD, until } from '../support/spec.js';
import {
  GENTLY_MS,
  Load,
  makeSenders,
  UNLIMITED,
  whatIsWrongWith503,
  type Senders,
} from '../support/load.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';

const ROWS = process.env.NIGHTLY ? 200_000 : 20_000;

/** A migration of the next release, which expands a large table that every refresh writes. */
class Expands1799000000000 implements MigrationInterface {
  name = 'Expands1799000000000';
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE grants ADD COLUMN IF NOT EXISTS used_from text');
    await queryRunner.query("ALTER TABLE grants ALTER COLUMN used_from SET DEFAULT 'unknown'");
    await backfillInBatches(queryRunner, {
      table: 'grants',
      key: 'id',
      set: "used_from = 'unknown'",
      where: 'used_from IS NULL',
    });
    await createIndexConcurrently(queryRunner, {
      name: 'grants_used_from_idx',
      on: 'grants (used_from, id)',
    });
  }

  async down(): Promise<void> {}
}

/** A migration of the release after that, which removes what only this build still needs. */
class Contracts1799000000001 implements MigrationInterface {
  name = 'Contracts1799000000001';
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await requireMigration(queryRunner, this.name);
    await queryRunner.query('ALTER TABLE grants RENAME COLUMN rotations TO rotated_at');
    await queryRunner.query('ALTER TABLE clients RENAME COLUMN token_epoch TO epoch');
  }

  async down(): Promise<void> {}
}

describe('this build, with the schema of the next one,', () => {
  let database: TestDatabase;
  let senders: Senders;
  let emails: string[];
  let environment: Record<string, string>;
  let service: SpawnedService;
  let http: Http;

  beforeAll(async () => {
    database = await createTestDatabase();
    const port = await freePort();
    http = new Http(`http://127.0.0.1:${port}`);
    const maker = await startInstance(database, UNLIMITED);
    const make = new Factory(maker);
    senders = await makeSenders(make);
    const users = await Promise.all([make.user(), make.user()]);
    emails = users.map(({ email }) => email);
    await make.tokens(await make.client(), users[0]!);
    await maker.app.close();
    await database.query(
      `INSERT INTO grants (id, client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position,
                           access_expires_at, refresh_expires_at, look_again_at)
       SELECT 'grnt' || lpad(n::text, 26, '0'), client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position,
              access_expires_at, refresh_expires_at, look_again_at
         FROM (SELECT * FROM grants WHERE user_id = $1) g, generate_series(1, ${ROWS}) n`,
      [users[0]!.id],
    );
    environment = {
      ...UNLIMITED,
      NODE_ENV: 'production',
      PORT: String(port),
      BASE_URL: http.url,
      LOG_LEVEL: 'warn',
      DATABASE_URL: database.serviceUrl!,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    };
    service = await new SpawnedService(environment).ready();
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await database.drop();
  });

  /** Reads the large table in a transaction that stays open, as a report or a backup does. */
  async function readerOf(table: string): Promise<() => Promise<void>> {
    const reader = new Client({ connectionString: database.url });
    await reader.connect();
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await reader.query(`SELECT FROM ${table} LIMIT 1`);
    return async () => {
      await reader.query('COMMIT');
      await reader.end();
    };
  }

  const index = async () =>
    (
      await database.query<{ valid: boolean }>(
        "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('grants_used_from_idx')",
      )
    )[0];

  it('serves every request while an expanding migration waits for readers, fills a column and indexes a large table', async () => {
    const load = new Load(http, senders, false, GENTLY_MS);
    let running = true;
    const signIns = { done: 0 };
    const signingIn = Promise.all(
      emails.map(async (email) => {
        while (running) {
          const browser = new BrowserSession(http.url);
          await browser.logIn(email, PASSWORD);
          expect((await browser.open('/account')).status).toBe(200);
          signIns.done++;
          await pause(50);
        }
      }),
    );
    let endReading = await readerOf('grants');
    const said: string[] = [];
    const migrating = migrate(database.url, undefined, {
      migrations: [...MIGRATIONS, Expands1799000000000],
      say: (line) => said.push(line),
    });
    // The ALTER TABLE has waited as long as it may, and let the requests behind it pass.
    await until('it is tried again', () => said.length > 0);
    await load.untilEach(200);
    const endFirst = endReading;
    endReading = await readerOf('users');
    await endFirst();
    // The index waits for the second reader, and nobody waits for the index.
    await until('the index is begun', async () => (await index()) !== undefined);
    await load.untilEach(200);
    expect(await index()).toEqual({ valid: false });
    await endReading();
    expect(await migrating).toEqual(['Expands1799000000000']);
    await load.untilEach(200);
    running = false;
    await signingIn;
    await load.stop();
    expect(load.seen.filter(({ status }) => status !== 200)).toEqual([]);
    expect(signIns.done).toBeGreaterThan(0);
    await load.verify(database);
    expect(await index()).toEqual({ valid: true });
    expect(await database.query('SELECT 1 FROM grants WHERE used_from IS NULL')).toEqual([]);
    expect((await http.get('/health/ready')).status).toBe(200);
    expect(service.printed).not.toMatch(/"level":"(error|fatal)"/);
  });

  it('reports that it is not ready, and refuses requests with 503, once the schema needs a newer build', async () => {
    const { client } = senders;
    const answers: string[] = [];
    let running = true;
    const asking = (async () => {
      while (running) {
        const answer = await http.token({ grant_type: 'client_credentials' }, { id: client.id, secret: client.secret }); // oxfmt-ignore
        answers.push(answer.status === 503 ? (whatIsWrongWith503(answer) ?? '503') : String(answer.status));
        await pause(5);
      }
    })();
    expect((await http.get('/health/ready')).status).toBe(200);
    await migrate(database.url, undefined, {
      migrations: [...MIGRATIONS, Expands1799000000000, Contracts1799000000001],
    });
    const ready = await http.get('/health/ready');
    await until('requests are refused', () => answers.includes('503'));
    running = false;
    await asking;
    expect(ready.status).toBe(503);
    expect(whatIsWrongWith503(ready)).toBeUndefined();
    expect([...new Set(answers)]).toEqual(['200', '503']);
    expect((await http.get('/health/live')).status).toBe(200);
    expect((await http.get('/metrics')).status).toBe(200);
    expect(service.printed).toMatch(
      /The database schema requires a newer build with these migrations: Contracts/,
    );
  });

  it('does not start on such a schema and does not migrate it, and names the build that is needed', async () => {
    const words =
      /DATABASE_URL points to a schema that requires a newer build with these migrations: Contracts1799000000001/;
    const ports = [await freePort(), await freePort()];
    const late = ['true', 'false'].map(
      (MIGRATE_ON_START, n) =>
        new SpawnedService({ ...environment, PORT: String(ports[n]), MIGRATE_ON_START }),
    );
    for (const each of late) {
      expect(await each.exit()).toBe(1);
      expect(each.printed).toMatch(words);
    }
    await expect(migrate(database.url)).rejects.toThrow(words);
  });
});

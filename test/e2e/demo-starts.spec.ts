import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DataSource, type QueryRunner } from 'typeorm';
import { loadDemoCredentials, type DemoCredentials } from '../../demo/demo-credentials.js';
import { seedDemonstration } from '../../demo/demo-data.js';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { ClientEntity } from '#access/clients/client.entity.js';
import { loadSettings, type Settings } from '#platform/config/settings.js';
import { newId } from '#platform/secrets/ids.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import { hashCheaply } from '../support/cheap-passwords.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';

/* Whatever someone did with the demonstration, it starts again. */
describe('A start of the demonstration', () => {
  let folder: string;
  let demo: DemoCredentials;
  let settings: Settings;
  let database: TestDatabase;
  let dataSource: DataSource;
  let runner: QueryRunner;

  beforeAll(async () => {
    hashCheaply();
    folder = await mkdtemp(path.join(os.tmpdir(), 'demo-starts-'));
    demo = await loadDemoCredentials(folder);
    settings = await loadSettings({ ENCRYPTION_KEY: TEST_ENCRYPTION_KEY });
    database = await createTestDatabase();
    const entities = [ClientEntity, UserEntity];
    dataSource = await new DataSource({ ...dataSourceOptions(database.url, 2), entities }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
    await rm(folder, { recursive: true });
  });
  // Each test is undone: making a database for each costs more than all starts.
  beforeEach(async () => {
    runner = dataSource.createQueryRunner();
    await runner.startTransaction();
  });
  afterEach(async () => {
    await runner.rollbackTransaction();
    await runner.release();
  });

  const query = (sql: string, params?: unknown[]) =>
    runner.query(sql, params) as Promise<Record<string, unknown>[]>;
  const start = (with_: Partial<Settings> = {}) => {
    const within = { transaction: runner.manager.transaction.bind(runner.manager) } as DataSource;
    return seedDemonstration(within, demo, { ...settings, ...with_ } as Settings);
  };

  const counts = async () => {
    const [row] = await query(
      `SELECT (SELECT count(*)::int FROM users) AS users, (SELECT count(*)::int FROM clients) AS clients,
              (SELECT count(*)::int FROM webhook_endpoints) AS endpoints,
              (SELECT count(*)::int FROM redirect_uri_requests) AS requests`,
    );
    return row;
  };
  const COMPLETE = { users: 21, clients: 7, endpoints: 3, requests: 1 };

  const erase = (user: { id: string }) => query('DELETE FROM users WHERE id = $1', [user.id]);
  const deleteClient = ({ id }: { id: string }) => query('DELETE FROM clients WHERE id = $1', [id]);
  const signUp = (email: string) =>
    query(
      `INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, $2, $2, 'Someone', 'individual', 'user')`,
      [newId('user'), email],
    );

  describe('in an empty database', () => {
    it('begins again after one that ended before everything was there', async () => {
      await expect(start({ encryptionKeys: undefined })).rejects.toThrow();
      expect(await counts()).toEqual({ users: 0, clients: 0, endpoints: 0, requests: 0 });
      await start();
      expect(await counts()).toEqual(COMPLETE);
    });

    it('adds the rest where the first operator of the settings has an address of its own people', async () => {
      const taken = ['operator@demo.example', 'fleet@demo.example', 'driver2@demo.example'];
      for (const email of taken) await signUp(email);
      expect(await start()).toEqual(['operator@demo.example']);
      expect(await counts()).toEqual({ users: 21, clients: 5, endpoints: 3, requests: 1 });
    });
  });

  describe('after another one', () => {
    let added: string[];
    beforeAll(async () => void (added = await seedDemonstration(dataSource, demo, settings)));

    it('adds nothing to what that has added', async () => {
      expect([added, await counts()]).toEqual([[], COMPLETE]);
      const events = await query('SELECT id FROM events ORDER BY id');
      expect(await start()).toEqual([]);
      expect(await counts()).toEqual(COMPLETE);
      expect(await query('SELECT id FROM events ORDER BY id')).toEqual(events);
    });

    it.each<[string, () => Promise<unknown>, Partial<typeof COMPLETE>]>([
      [
        "the partner's client was deleted",
        () => deleteClient(demo.partnerClient),
        { endpoints: 1, requests: 0 },
      ],
      ['all endpoints were purged', () => query('DELETE FROM webhook_endpoints'), { endpoints: 1 }],
      ['the client in the sandbox was deleted', () => deleteClient(demo.sandboxClient), {}],
      [
        'every client was deleted',
        () => query('DELETE FROM clients'),
        { clients: 4, endpoints: 1, requests: 0 },
      ],
      ['the driver was erased', () => erase(demo.driver), {}],
    ])('succeeds after %s, whose credentials work again', async (_what, act, changed) => {
      await act();
      for (let n = 0; n < 2; n++) {
        expect(await start()).toEqual([]);
        expect(await counts()).toEqual({ ...COMPLETE, ...changed });
      }
      const sandbox = await query('SELECT user_id FROM consents WHERE client_id = $1', [
        demo.sandboxClient.id,
      ]);
      expect(sandbox).toEqual([{ user_id: demo.sandboxDriver.id }]);
      expect(
        await query('SELECT 1 FROM client_secrets WHERE client_id = $1', [demo.partnerClient.id]),
      ).toHaveLength(1);
    });

    it('leaves their addresses to whoever has them by now', async () => {
      const taken = (['driver', 'sharingDriver', 'developer', 'viewerOperator'] as const).map(
        (who) => demo[who],
      );
      for (const user of taken) {
        await erase(user);
        await signUp(user.email);
      }
      const emails = taken.map(({ email }) => email).sort();
      expect((await start()).toSorted()).toEqual(emails);
      expect(await counts()).toEqual(COMPLETE);
      const names = 'SELECT DISTINCT name FROM users WHERE email = ANY ($1)';
      expect(await query(names, [emails])).toEqual([{ name: 'Someone' }]);
    });

    it('leaves out what belongs to the organisation if someone else has its address', async () => {
      await query('DELETE FROM clients WHERE owner_id = $1', [demo.organisation.id]);
      await erase(demo.organisation);
      await signUp(demo.organisation.email);
      expect(await start()).toEqual([demo.organisation.email]);
      expect(await counts()).toEqual({ users: 20, clients: 3, endpoints: 0, requests: 0 });
    });
  });
});

import { Client } from 'pg';
import { AccessChanges } from '../../src/database/access-changes.service.js';
import type { TestClient } from '../support/factory.js';
import { isAccepted } from '../support/oauth.js';
import { untilPast } from '../support/past-change.js';
import { startInstance, startService, type TestInstance, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

// One more than an instance remembers.
const CHANGES = 200_001;

/** A reading takes no more changes than an instance remembers: of these the oldest are not even read. */
describe('more changes than an instance reads at once', () => {
  let service: TestService;
  let client: TestClient;
  let live: string;
  let ended: string;
  let late: TestInstance;

  beforeAll(async () => {
    service = await startService();
    client = await service.make.client();
    const [user, withdrawing] = [await service.make.user(), await service.make.user()];
    live = (await service.make.tokens(client, user)).access_token;
    ended = (await service.make.tokens(client, withdrawing)).access_token;
    expect(await taken(service)).toEqual([true, true]);
    const [first, then] = [await connection(), await connection()];
    await first.query('BEGIN');
    await first.query('UPDATE grants SET revoked_at = now() WHERE user_id = $1', [withdrawing.id]);
    await then.query('BEGIN');
    // All of one id, so that nothing is forgotten for want of room.
    await then.query("INSERT INTO access_changes (ids) SELECT '{filler}' FROM generate_series(1, $1)", [
      CHANGES,
    ]);
    // What is committed while it is not there is read at once.
    await then.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'charging-data-service listener' AND datname = current_database()`,
    );
    for (const each of [first, then]) {
      await each.query('COMMIT');
      await each.end();
    }
    late = await startInstance(service.database, {});
  });
  afterAll(async () => {
    await late?.app.close();
    await service.stop();
  });

  async function connection(): Promise<Client> {
    const made = new Client({ connectionString: service.database.url });
    await made.connect();
    return made;
  }

  /** Whether the live and the ended token are taken, by what the instance has read. */
  async function taken({ app, http }: TestInstance): Promise<boolean[]> {
    await until('it has read the changes', () => app.get(AccessChanges).isTrusted);
    return [await isAccepted(http, live), await isAccepted(http, ended)];
  }

  it('bring no token back at one that had lost its connection, and end none', async () => {
    expect(await taken(service)).toEqual([true, false]);
  });

  it('bring no token back at one that is started then, and end none', async () => {
    expect(await taken(late)).toEqual([true, false]);
  });

  it('leave it to remember what is issued after them', async () => {
    const token = await service.make.clientToken(client);
    for (const { app, http } of [service, late]) {
      expect(await isAccepted(http, token)).toBe(true);
      await untilPast(app.get(AccessChanges), client.id);
    }
  });
});

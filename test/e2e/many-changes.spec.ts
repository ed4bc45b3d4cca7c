import { Client } from 'pg';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { isAccepted, madeOnce, until } from '../support/spec.js';
import { untilPast } from '../support/past-change.js';
import { type TestInstance, startInstance, useService } from '../support/test-service.js';

// One more than an instance remembers.
const CHANGES = 200_001;

/** An instance reads at most as many changes as it remembers; the oldest of these are not read at all. */
describe('More changes than an instance reads at once', () => {
  const service = useService();
  let live: string;
  let ended: string;
  let late: TestInstance;

  const client = madeOnce(() => service.make.client());
  beforeAll(async () => {
    const [user, withdrawing] = [await service.make.user(), await service.make.user()];
    live = (await service.make.tokens(client, user)).access_token;
    ended = (await service.make.tokens(client, withdrawing)).access_token;
    expect(await taken(service)).toEqual([true, true]);
    const [first, then] = [await connection(), await connection()];
    await first.query('BEGIN');
    await first.query('UPDATE grants SET revoked_at = now() WHERE user_id = $1', [withdrawing.id]);
    await then.query('BEGIN');
    // All have the same id, so that no id is dropped for lack of room.
    await then.query("INSERT INTO access_changes (ids) SELECT '{filler}' FROM generate_series(1, $1)", [
      CHANGES,
    ]);
    // Cut the listening connection, so that the instance reads everything at once when it reconnects.
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
  afterAll(() => late?.app.close());

  async function connection(): Promise<Client> {
    const made = new Client({ connectionString: service.database.url });
    await made.connect();
    return made;
  }

  /** Whether the instance accepts the live and the revoked token, once it has read the changes. */
  async function taken({ app, http }: TestInstance): Promise<boolean[]> {
    await until('it has read the changes', () => app.get(AccessChanges).isTrusted);
    return [await isAccepted(http, live), await isAccepted(http, ended)];
  }

  it('neither revive a revoked token nor end a live one on an instance that lost its connection', async () => {
    expect(await taken(service)).toEqual([true, false]);
  });

  it('neither revive a revoked token nor end a live one on an instance that starts afterwards', async () => {
    expect(await taken(late)).toEqual([true, false]);
  });

  it('do not prevent an instance from caching tokens that are issued afterwards', async () => {
    const token = await service.make.clientToken(client);
    for (const { app, http } of [service, late]) {
      expect(await isAccepted(http, token)).toBe(true);
      await untilPast(app.get(AccessChanges), client.id);
    }
  });
});

import { AccessChanges, type Stamp } from '#platform/database/changes/access-changes.service.js';
import { PurgeRepository } from '#platform/database/purge/purge.repository.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { untilPast } from '../support/past-change.js';
import { madeForEach, startInstance, until, useService } from '../support/spec.js';
import { keysAtStart } from '../support/tokens.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';
import { connectionTo } from '../support/test-database.js';

const LISTENER = 'charging-data-service listener';

/** Access changes, which are kept for as long as a token can live, and what instances know of them. */
describe('An access change', () => {
  const service = useService({ instances: 2 });
  let here: AccessChanges;
  let there: AccessChanges;
  /** A connection for transactions that the tests control. */
  const hand = madeForEach(() => connectionTo(service));

  beforeAll(async () => {
    // It would note changes, and delete them, between two steps of a test.
    await leaveOutScheduledPurges(service);
    [here, there] = service.instances.map(({ app }) => app.get(AccessChanges)) as [
      AccessChanges,
      AccessChanges,
    ];
  });
  beforeEach(async () => {
    for (const changes of [here, there]) await untilRead(changes);
  });
  afterEach(() => hand.end());

  /** Waits until an instance has read everything that was committed before; `catchUp` waits no longer than for a silent database. */
  const untilRead = async (changes: AccessChanges) => {
    await changes.catchUp();
    await until('changes are read', () => changes.isTrusted);
  };
  const touch = (userId: string) => hand.query('UPDATE users SET name = name WHERE id = $1', [userId]);
  const knows = (changes: AccessChanges, stamp: Stamp, id: string) => changes.hasChangedSince(stamp, [id]);

  it('that commits late applies to all stamps taken before the commit, and to none taken after it', async () => {
    const { id } = await service.make.user();
    const other = await service.make.user();
    const before = there.stamp;
    await hand.query('BEGIN');
    await touch(id);
    const during: Stamp[] = [];
    for (let n = 0; n < 5; n++) {
      // Other transactions go on, so those that started later finish first.
      await service.database.query('UPDATE users SET name = name WHERE id = $1', [other.id]);
      await untilRead(there);
      during.push(there.stamp);
    }
    expect(during.map((stamp) => knows(there, stamp, id))).toEqual(during.map(() => false));
    await hand.query('COMMIT');
    await untilRead(there);
    const late = await startInstance(service.database, {});
    try {
      const lately = late.app.get(AccessChanges);
      await until('it has read the changes', () => lately.isTrusted);
      for (const changes of [there, lately]) {
        expect([before, ...during].map((stamp) => knows(changes, stamp, id))).toEqual(
          [before, ...during].map(() => true),
        );
        await untilPast(changes, id);
        expect(knows(changes, before, 'user of nobody')).toBe(false);
      }
    } finally {
      await late.app.close();
    }
  });

  it('is known to an instance that starts later, whichever page of the changes it is on', async () => {
    const before = there.stamp;
    // Two pages and a half, most of one transaction.
    await service.database.query(
      `INSERT INTO access_changes (ids) SELECT ARRAY['paged ' || n] FROM generate_series(1, 25000) n`,
    );
    await service.database.query(`INSERT INTO access_changes (ids) VALUES ('{"paged last"}')`);
    const late = await startInstance(service.database, {});
    try {
      const lately = late.app.get(AccessChanges);
      await until('it has read the changes', () => lately.isTrusted);
      const known = [1, 5000, 14_999, 15_000, 15_001, 24_999, 25_000, 'last'].filter((n) =>
        knows(lately, before, `paged ${n}`),
      );
      expect(known).toEqual([1, 5000, 14_999, 15_000, 15_001, 24_999, 25_000, 'last']);
      expect(knows(lately, before, 'paged 0')).toBe(false);
    } finally {
      await late.app.close();
      await service.database.query(`DELETE FROM access_changes WHERE ids[1] LIKE 'paged%'`);
    }
  });

  it('is discarded when its transaction rolls back, and only in part when it rolls back to a savepoint', async () => {
    const [rolledBack, kept, undone] = [
      await service.make.user(),
      await service.make.user(),
      await service.make.user(),
    ];
    await untilRead(here);
    const before = here.stamp;
    await hand.query('BEGIN');
    await touch(rolledBack.id);
    await hand.query('ROLLBACK');
    await hand.query('BEGIN');
    await touch(kept.id);
    await hand.query('SAVEPOINT one');
    await touch(undone.id);
    await hand.query('ROLLBACK TO one');
    await hand.query('COMMIT');
    await untilRead(here);
    expect([rolledBack, kept, undone].map(({ id }) => knows(here, before, id))).toEqual([false, true, false]);
  });

  it('is read after a reconnection, together with all other changes in the meantime', async () => {
    const users = await Promise.all(Array.from({ length: 5 }, () => service.make.user()));
    await untilRead(there);
    const before = there.stamp;
    await hand.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`,
      [LISTENER],
    );
    await until('it is cut', () => !there.isTrusted);
    for (const { id } of users) await touch(id);
    await untilRead(there);
    expect(users.map(({ id }) => knows(there, before, id))).toEqual(users.map(() => true));
    expect(knows(there, before, 'user of nobody')).toBe(false);
  });

  it('of more than a thousand grants names their clients; of more than a thousand users, everything', async () => {
    const [client, other] = [await service.make.client(), await service.make.client()];
    await hand.query(
      `INSERT INTO users (id, email, email_key, name, kind, role)
       SELECT 'user' || lpad(n::text, 26, '0'), n || '@x.example', n || '@x.example', 'U', 'individual', 'user'
         FROM generate_series(1, 1001) n`,
    );
    await hand.query(
      `INSERT INTO consents (client_id, user_id, scopes) SELECT $1, id, '{}' FROM users WHERE email LIKE '%@x.example'`,
      [client.id],
    );
    await hand.query(
      `INSERT INTO grants (id, client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position, access_expires_at,
                         refresh_expires_at, look_again_at)
       SELECT 'grnt' || right(user_id, 26), client_id, user_id, '{}', now() + interval '1 day', 1, 0, 0, now(), now(), now()
         FROM consents WHERE client_id = $1`,
      [client.id],
    );
    await untilRead(here);
    const before = here.stamp;
    await hand.query('UPDATE grants SET revoked_at = now() WHERE client_id = $1', [client.id]);
    await untilRead(here);
    expect([client, other].map(({ id }) => knows(here, before, `${id} users`))).toEqual([true, false]);
    await hand.query(`UPDATE users SET name = 'V' WHERE email LIKE '%@x.example'`);
    await untilRead(here);
    expect(knows(here, before, 'user of nobody')).toBe(true);
    await untilPast(here, 'user of nobody');
  });

  describe('is kept', () => {
    const kept = async (userId: string) => {
      return service.database.value<number>(
        'SELECT count(*)::int AS n FROM access_changes WHERE $1 = ANY (ids)',
        [userId],
      );
    };
    const age = (userId: string, by: string) =>
      service.database.query(
        `UPDATE access_changes SET committed_by = committed_by - $2::interval WHERE $1 = ANY (ids)`,
        [userId, by],
      );
    const purge = () => service.app.get(PurgeService).purge();

    it('as long after its commit as a token can live, however long its transaction was open', async () => {
      const { id } = await service.make.user();
      await hand.query('BEGIN');
      await touch(id);
      await purge();
      await hand.query('COMMIT');
      const [row] = await service.database.query(
        'SELECT committed_by FROM access_changes WHERE $1 = ANY (ids)',
        [id],
      );
      expect(row).toEqual({ committed_by: Infinity });
      await purge();
      await age(id, '10 hours 59 minutes');
      await purge();
      expect(await kept(id)).toBe(1);
      await age(id, '2 minutes');
      await purge();
      expect(await kept(id)).toBe(0);
    });

    it('as not committed while another instance notes it, and the purge does not wait for that', async () => {
      const [held, free] = [await service.make.user(), await service.make.user()];
      const noted = async ({ id }: { id: string }) => {
        return service.database.value<boolean>(
          "SELECT committed_by < 'infinity' AS noted FROM access_changes WHERE $1 = ANY (ids)",
          [id],
        );
      };
      for (const { id } of [held, free]) await touch(id);
      await hand.query('BEGIN');
      await hand.query('SELECT 1 FROM access_changes WHERE $1 = ANY (ids) FOR UPDATE', [held.id]);
      await service.app.get(PurgeRepository).noteCommittedChanges();
      expect([await noted(held), await noted(free)]).toEqual([false, true]);
      await hand.query('ROLLBACK');
      await service.app.get(PurgeRepository).noteCommittedChanges();
      expect(await noted(held)).toBe(true);
    });

    it('for the longest lifetime that tokens of a key in use were issued with', async () => {
      const { id } = await service.make.user();
      await keysAtStart(service, { accessTokenTtl: 72_000 });
      await touch(id);
      await purge();
      await age(id, '20 hours');
      await purge();
      expect(await kept(id)).toBe(1);
      await age(id, '2 hours');
      await purge();
      expect(await kept(id)).toBe(0);
    });

    it('no longer if it was written before the database was restored', async () => {
      await hand.query("INSERT INTO access_changes (xid, ids) VALUES ('1000000000000', '{ghost}')");
      await purge();
      expect(await kept('ghost')).toBe(0);
    });
  });
});

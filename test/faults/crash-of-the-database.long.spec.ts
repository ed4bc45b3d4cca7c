import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { Factory, isAccepted, type TestClient, until } from '../support/spec.js';
import { UNLIMITED } from '../support/load.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { startInstance, type TestInstance } from '../support/test-service.js';

// How many transactions end without anything that waits for the disk: some for whatever else begins one after the crash.
const ABORTED = 500;
const ABORT_MANY = `
  DO $$ BEGIN
    FOR n IN 1..${ABORTED} LOOP
      PERFORM pg_current_xact_id();
      ROLLBACK;
    END LOOP;
  END $$`;

/** PostgreSQL gives the numbers of transactions whose end was not on its disk yet to others after a crash. */
describe('when PostgreSQL crashes before the end of its log is on the disk', () => {
  let postgres: OwnPostgres;
  let instance: TestInstance;
  let changes: AccessChanges;
  let make: Factory;
  let client: TestClient;

  beforeAll(async () => {
    // What nobody waits for is written every ten seconds.
    postgres = await OwnPostgres.start({ wal_writer_delay: '10s', autovacuum: 'off' });
    instance = await startInstance(postgres, UNLIMITED);
    changes = instance.app.get(AccessChanges);
    make = new Factory(instance);
    client = await make.client();
  });
  afterAll(async () => {
    await instance.app.close();
    await postgres.drop();
  });

  const nextNumber = async () => {
    const [row] = await postgres.query<{ next: number }>(
      'SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS next',
    );
    return row!.next;
  };

  /** Whether the revocation after the crash got a number that the instance had counted as ended. */
  async function revokesUnderAnEarlierNumber(): Promise<boolean> {
    const user = await make.user();
    const { access_token: token } = await make.tokens(client, user);
    await until('its memory is trusted', () => changes.isTrusted);
    expect(await isAccepted(instance.http, token)).toBe(true);
    await postgres.query(ABORT_MANY);
    await changes.catchUp();
    const counted = changes.stamp.position;
    expect(counted).toBeGreaterThan(ABORTED);
    await postgres.end('SIGKILL');
    await postgres.start();
    const isEarlier = (await nextNumber()) < counted;
    await postgres.query('UPDATE consents SET revoked_at = now() WHERE user_id = $1', [user.id]);
    const [revocation] = await postgres.query<{ xid: number }>(
      'SELECT max(xid::text::float8) AS xid FROM access_changes WHERE $1 = ANY (ids)',
      [user.id],
    );
    await until('its memory is trusted again', () => changes.isTrusted);
    // It may have read right before the revocation.
    await changes.catchUp();
    expect(await isAccepted(instance.http, token)).toBe(false);
    return isEarlier && revocation!.xid < counted;
  }

  it('an instance notices a revocation whose transaction has the number of one that it counted as ended', async () => {
    // Whatever else commits at that moment, such as a task of the instance, writes the end of the log.
    while (!(await revokesUnderAnEarlierNumber()));
  });
});

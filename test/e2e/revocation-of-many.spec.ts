import { DataSource } from 'typeorm';
import { GrantsRepository } from '#access/tokens/grants/grants.repository.js';
import { PARTNER_SCOPES, useSharedService } from '../support/spec.js';

const AT_ONCE = 10;
const MANY = 25;

const service = useSharedService();
let clientId: string;
let otherId: string;

beforeEach(async () => {
  [clientId, otherId] = [(await service.make.client()).id, (await service.make.client()).id];
  // The ids go the other way round than the users.
  const users = await Promise.all([service.make.user(), service.make.user(), service.make.user()]);
  for (const id of [clientId, otherId])
    await addGrants(
      id,
      users
        .map((user) => user.id)
        .sort()
        .reverse(),
    );
});

/** Adds the grants, of these users in turn. */
async function addGrants(client: string, users: string[]): Promise<void> {
  for (const user of users) await service.database.query(CONSENT, [client, user, PARTNER_SCOPES]);
  await service.database.query(
    `INSERT INTO grants (id, client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position,
                         access_expires_at, refresh_expires_at, look_again_at)
     SELECT 'grnt' || upper(substr(md5($1 || n), 1, 26)), $1, ($2::text[])[1 + n % 3], '{}', now() + interval '1 day',
            (SELECT min(id) FROM token_keys), 0, 0, now(), now() + interval '1 day', now()
       FROM generate_series(1, $3::int) n`,
    [client, users, MANY],
  );
}
const CONSENT = 'INSERT INTO consents (client_id, user_id, scopes) VALUES ($1, $2, $3)';

const live = async (client: string): Promise<number> => {
  const [row] = await service.database.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM grants WHERE client_id = $1 AND revoked_at IS NULL',
    [client],
  );
  return row!.n;
};
const revokeAll = () => {
  const { app } = service;
  return app
    .get(DataSource)
    .transaction(() =>
      app.get(GrantsRepository, { strict: false }).revokeOfClient(clientId, 'tokens_revoked', AT_ONCE),
    );
};

it('an error in a later statement leaves every grant of the client as it was', async () => {
  // The second statement would end the eleventh to the twentieth grant.
  await service.database.query(`
    CREATE FUNCTION refuse_the_second() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM grants WHERE client_id = '${clientId}' AND revoked_at IS NOT NULL) > ${AT_ONCE}
      THEN RAISE EXCEPTION 'no more'; END IF; RETURN NULL; END $$;
    CREATE TRIGGER second AFTER UPDATE ON grants FOR EACH STATEMENT EXECUTE FUNCTION refuse_the_second();`);
  try {
    await expect(revokeAll()).rejects.toThrow('no more');
  } finally {
    await service.database.query('DROP TRIGGER second ON grants; DROP FUNCTION refuse_the_second()');
  }
  expect(await live(clientId)).toBe(MANY);
});

it('more grants of a client than one statement takes are all revoked and counted, and those of others stay', async () => {
  expect(await revokeAll()).toBe(MANY);
  expect([await live(clientId), await live(otherId)]).toEqual([0, MANY]);
});

it('a client without grants has none to revoke', async () => {
  await service.database.query('DELETE FROM grants WHERE client_id = $1', [clientId]);
  expect(await revokeAll()).toBe(0);
});

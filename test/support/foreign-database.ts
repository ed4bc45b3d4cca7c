import { escapeIdentifier, escapeLiteral } from 'pg';
import { migrate } from '#platform/database/migrations/migrate.js';
import type { ForeignCondition } from './foreign-conditions.js';
import { asAdmin, createTestDatabase, nameOf, type Reads, type TestDatabase } from './test-database.js';

const ROLES = ['charging_owner', 'charging_service'];

/** A test's own database in such a place. The connections of the tests themselves are as they always are. */
export async function createForeignDatabase({
  database: ofDatabase = {},
  role = {},
  schema,
}: ForeignCondition): Promise<TestDatabase & Reads> {
  // A copy of the template has its tables already.
  const database = await createTestDatabase(schema === undefined ? undefined : 'template0');
  const name = nameOf(database);
  const { username: tester } = new URL(database.url);
  await asAdmin(async (admin) => {
    const set = async (whose: string, settings: Record<string, string>) => {
      for (const [setting, value] of Object.entries(settings))
        await admin.query(`ALTER ${whose} SET ${setting} = ${escapeLiteral(value)}`);
    };
    const ofTester = `ROLE ${tester} IN DATABASE ${name}`;
    for (const setting of Object.keys(ofDatabase)) {
      const { rows } = await admin.query<{ value: string }>('SELECT current_setting($1) AS value', [setting]);
      await set(ofTester, { [setting]: rows[0]!.value });
    }
    await set(`DATABASE ${name}`, ofDatabase);
    for (const each of ROLES) await set(`ROLE ${each} IN DATABASE ${name}`, role);
    if (schema !== undefined) {
      await admin.query(`GRANT CREATE ON DATABASE ${name} TO ${ROLES[0]}`);
      for (const whose of [ofTester, `ROLE ${ROLES[0]} IN DATABASE ${name}`])
        await admin.query(`ALTER ${whose} SET search_path = ${escapeIdentifier(schema)}`);
    }
  });
  if (schema !== undefined) await migrateIn(schema, database);
  return database;
}

async function migrateIn(schema: string, { url, query }: TestDatabase): Promise<void> {
  await query(`CREATE SCHEMA ${escapeIdentifier(schema)} AUTHORIZATION ${ROLES[0]}`);
  // This connection is older than its default.
  await query(`SET search_path = ${escapeIdentifier(schema)}`);
  const owner = Object.assign(new URL(url), { username: ROLES[0] });
  await migrate(owner.href, undefined, { serviceRole: ROLES[1] });
}

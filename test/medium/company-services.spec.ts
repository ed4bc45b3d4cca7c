import { DataSource } from 'typeorm';
import { CompanyServices1763900000000 } from '../../migrations/1763900000000-company-services.js';
import { MIGRATIONS } from '../../migrations/index.js';
import { dataSourceOptions } from '../../src/database/connections/data-source.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ID = '01HN2NJ9NMRZBXT1H6FT9N773';

describe('The migration that marks services of the company', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
    const after = MIGRATIONS.length - MIGRATIONS.indexOf(CompanyServices1763900000000);
    for (let n = 0; n < after; n++) await dataSource.undoLastMigration({ transaction: 'each' });
    const people: [n: number, role: string][] = [
      [1, 'user'],
      [2, 'operator'],
    ];
    for (const [n, role] of people) {
      await dataSource.query(
        `INSERT INTO users (id, email, email_key, name, kind, role)
         VALUES ('user${ID}' || $1, $1 || '@x', $1 || '@x', 'X', 'individual', $2)`,
        [String(n), role],
      );
    }
    const clients: [n: number, owner: number, scopes: string[]][] = [
      [1, 1, ['event:publish']],
      [2, 1, ['admin:read', 'admin:write']],
      [3, 2, ['admin:read', 'admin:write']],
      [4, 1, ['vehicle:read']],
    ];
    for (const [n, owner, scopes] of clients) {
      await dataSource.query(
        `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
         VALUES ('clnt${ID}' || $1, $1, 'confidential', '{client_credentials}', $3, '{}', 'user${ID}' || $2)`,
        [String(n), String(owner), scopes],
      );
    }
    await dataSource.runMigrations({ transaction: 'each' });
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const clients = () =>
    dataSource.query(
      'SELECT name, enabled, company_service, token_epoch > 0 AS ended FROM clients ORDER BY name',
    );

  it('marks data services, disables what a former operator may have left, and leaves the rest, also when it runs again', async () => {
    const expected = [
      { name: '1', enabled: true, company_service: true, ended: false },
      { name: '2', enabled: false, company_service: false, ended: true },
      { name: '3', enabled: true, company_service: false, ended: false },
      { name: '4', enabled: true, company_service: false, ended: false },
    ];
    expect(await clients()).toEqual(expected);
    const runner = dataSource.createQueryRunner();
    await new CompanyServices1763900000000().up(runner);
    await runner.release();
    expect(await clients()).toEqual(expected);
  });
});

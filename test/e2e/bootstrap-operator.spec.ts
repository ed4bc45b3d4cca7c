import { DataSource } from 'typeorm';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { ClientSecretEntity } from '#access/clients/client-secret.entity.js';
import { ClientEntity } from '#access/clients/client.entity.js';
import { newId } from '#platform/secrets/ids.js';
import { bootstrapOperator } from '#start/bootstrap-operator.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('The first operator', () => {
  const client = { id: newId('clnt'), secret: 's'.repeat(32) };
  const person = { email: 'first@operator.example', password: 'a password from the settings' };
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await createTestDatabase();
    const entities = [AuditEventEntity, ClientEntity, ClientSecretEntity, UserEntity];
    dataSource = await new DataSource({ ...dataSourceOptions(database.url, 2), entities }).initialize();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const addAdmin = async (email: string, enabled: boolean) => {
    const id = newId('user');
    await database.query(
      `INSERT INTO users (id, email, email_key, name, kind, role, operator_role, enabled)
       VALUES ($1, $2, $2, 'An admin', 'individual', 'operator', 'admin', $3)`,
      [id, email, enabled],
    );
    return id;
  };
  const owners = () =>
    database.query('SELECT u.email, u.enabled FROM clients c JOIN users u ON u.id = c.owner_id');

  it('is created once, with its client', async () => {
    for (let n = 0; n < 2; n++) {
      await bootstrapOperator(dataSource, { ...person, client });
      expect(await owners()).toEqual([{ email: person.email, enabled: true }]);
    }
    expect(await database.query('SELECT 1 FROM users')).toHaveLength(1);
  });

  it('is an enabled admin, if there is one, whoever came first: the client of a disabled one gets no token', async () => {
    await addAdmin('left@operator.example', false);
    await addAdmin('stayed@operator.example', true);
    await addAdmin('left-later@operator.example', false);
    await bootstrapOperator(dataSource, { ...person, client });
    expect(await owners()).toEqual([{ email: 'stayed@operator.example', enabled: true }]);
  });

  it('leaves its client as operators changed it, even if that can no longer change anything', async () => {
    await bootstrapOperator(dataSource, { ...person, client });
    await database.query(`UPDATE clients SET scopes = '{admin:read}'`);
    await bootstrapOperator(dataSource, { ...person, client });
    expect(await database.query('SELECT id, scopes FROM clients')).toEqual([
      { id: client.id, scopes: ['admin:read'] },
    ]);
  });
});

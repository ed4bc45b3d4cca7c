import { DataSource } from 'typeorm';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { newId } from '#platform/secrets/ids.js';
import { keyIdOf } from '#platform/secrets/purpose-key.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EncryptionCanaryEntity } from '#events/webhooks/signing/encryption-canary.entity.js';
import { resealCanary, verifyEncryptionKeys } from '#events/webhooks/signing/encryption-canary.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const [OLD, NEW, OTHER] = ['o', 'n', 'x'].map((fill) => Buffer.alloc(32, fill)) as [Buffer, Buffer, Buffer];

describe('the canary of the encryption key', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  beforeEach(async () => {
    database = await createTestDatabase();
    dataSource = await new DataSource({
      ...dataSourceOptions(database.serviceUrl!, 4),
      entities: [EncryptionCanaryEntity, EndpointEntity],
    }).initialize();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const canaries = () => database.query<{ key_id: string }>('SELECT key_id FROM encryption_canary');
  const verify = (...keys: Buffer[]) => verifyEncryptionKeys(dataSource, keys);

  /** An endpoint whose secret was sealed under a key. */
  async function sealedUnder(key: Buffer): Promise<void> {
    const [user, client, endpoint] = [newId('user'), newId('clnt'), newId('endp')];
    await database.query(
      `INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, $1, $1, 'x', 'individual', 'user')`,
      [user],
    );
    await database.query(
      `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id) VALUES ($1, 'x', 'confidential', '{}', '{}', '{}', $2)`,
      [client, user],
    );
    await database.query(
      `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret) VALUES ($1, $2, 'https://a.example', '{webhook.test}', $3)`,
      [endpoint, client, new SealedBox('webhook endpoint secret', [key]).seal('whsec_x', endpoint)],
    );
  }

  it('refuses another key than the one of the database, and names both by ids that tell nothing of them', async () => {
    await verify(OLD);
    const refusal = verify(OTHER, NEW);
    await expect(refusal).rejects.toThrow(
      `ENCRYPTION_KEY must be the key that encrypted the data in this database, the one with the id ${keyIdOf(OLD)}; given: ${keyIdOf(OTHER)}, and the previous keys ${keyIdOf(NEW)}`,
    );
    const message = await refusal.then(String, (error: Error) => error.message);
    for (const key of [OLD, NEW, OTHER]) expect(message).not.toContain(key.toString('base64').slice(0, 8));
    expect(await canaries()).toEqual([{ key_id: keyIdOf(OLD) }]);
  });

  it('is made once in an empty database, however many instances start at once; an instance with another key is refused', async () => {
    const results = await Promise.allSettled([verify(OLD), verify(NEW), verify(OLD), verify(NEW)]);
    const [{ key_id }] = (await canaries()) as [{ key_id: string }];
    expect(await canaries()).toHaveLength(1);
    const winner = key_id === keyIdOf(OLD) ? [0, 2] : [1, 3];
    expect(results.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []))).toEqual(winner);
  });

  it('is not made by a key that opens nothing of what is sealed already', async () => {
    await sealedUnder(OLD);
    await expect(verify(OTHER)).rejects.toThrow(/whose id is unknown; given: /);
    expect(await canaries()).toEqual([]);
    await verify(NEW, OLD);
    expect(await canaries()).toEqual([{ key_id: keyIdOf(OLD) }]);
  });

  it('opens with a previous key until it is sealed afresh, and then with the present one alone', async () => {
    await verify(OLD);
    // The first step of a change: the next key is known, and seals nothing yet.
    await verify(OLD, NEW);
    await verify(NEW, OLD);
    await resealCanary(dataSource, [NEW, OLD]);
    await verify(NEW);
    await expect(verify(OLD)).rejects.toThrow(keyIdOf(NEW));
  });

  it('is sealed again without its key only if that key is named as lost', async () => {
    await verify(OLD);
    await expect(resealCanary(dataSource, [NEW])).rejects.toThrow(keyIdOf(OLD));
    await expect(resealCanary(dataSource, [NEW], keyIdOf(NEW))).rejects.toThrow(keyIdOf(OLD));
    await resealCanary(dataSource, [NEW], keyIdOf(OLD));
    await verify(NEW);
  });
});

import { hkdfSync } from 'node:crypto';
import { SettingsError } from '../../config/environment.js';
import { keyIdOf } from '../../secrets/key-id.js';
import { seal, unseal } from '../../secrets/seal.js';
import { sealedFor } from '../../tokens/token-keys.service.js';
import { openEndpointSecret } from './sealed-secret.js';

/** A data source, or a transaction. */
interface Database {
  query<T>(sql: string, params?: unknown[]): Promise<T>;
}

interface Canary {
  keyId: string;
  sealed: Buffer;
}

const TEXT = 'charging-data-service';
// Secrets that a reseal could not decrypt may remain; one that can be decrypted is enough.
const LOOKED_AT = 100;

const sealingKey = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'encryption canary', 32));
const sealCanary = (key: Buffer): Buffer => seal(sealingKey(key), TEXT, keyIdOf(key));
const opens = (key: Buffer, { keyId, sealed }: Canary): boolean =>
  unseal(sealingKey(key), sealed, keyId) === TEXT;

/**
 * Verifies that the keys, current one first, belong to the database: one of them must decrypt its canary. A database without a
 * canary gets one if a key decrypts what is sealed there, or nothing is sealed yet. Throws a SettingsError that names the
 * expected key.
 */
export async function verifyEncryptionKeys(database: Database, keys: readonly Buffer[]): Promise<void> {
  const canary = (await readCanary(database)) ?? (await makeCanary(database, keys));
  if (!keys.some((key) => opens(key, canary))) throw wrongKeys(canary.keyId, keys);
}

/**
 * Seals the canary under the current key, after everything else was resealed. `lostKeyId` is the id of a key that is lost: the
 * canary is then replaced although it cannot be decrypted. Throws a SettingsError if the canary has another key.
 */
export async function resealCanary(
  database: Database,
  keys: readonly Buffer[],
  lostKeyId?: string,
): Promise<void> {
  const canary = await readCanary(database);
  if (!canary || canary.keyId !== lostKeyId) await verifyEncryptionKeys(database, keys);
  await database.query('UPDATE encryption_canary SET key_id = $1, sealed = $2, sealed_at = now()', [
    keyIdOf(keys[0]!),
    sealCanary(keys[0]!),
  ]);
}

async function readCanary(database: Database): Promise<Canary | undefined> {
  const [canary] = await database.query<Canary[]>('SELECT key_id AS "keyId", sealed FROM encryption_canary');
  return canary;
}

async function makeCanary(database: Database, keys: readonly Buffer[]): Promise<Canary> {
  const sealed = await readSealed(database);
  const key =
    sealed.length === 0 ? keys[0] : keys.find((each) => sealed.some((isOpenedBy) => isOpenedBy(each)));
  if (!key) throw wrongKeys(undefined, keys);
  await database.query(
    'INSERT INTO encryption_canary (key_id, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [keyIdOf(key), sealCanary(key)],
  );
  // Or the canary of an instance that was faster.
  return (await readCanary(database))!;
}

/** A sample of what is sealed in the database, each as a function that tells whether a key decrypts it. */
async function readSealed(database: Database): Promise<((key: Buffer) => boolean)[]> {
  const secrets = await database.query<{ id: string; sealed: Buffer }[]>(
    'SELECT id, sealed_secret AS sealed FROM webhook_endpoints ORDER BY id DESC LIMIT $1',
    [LOOKED_AT],
  );
  const tokenKeys = await database.query<{ id: number; sealed: Buffer }[]>(
    'SELECT id::float8 AS id, sealed FROM token_keys WHERE revoked_at IS NULL',
  );
  return [
    ...secrets.map(
      ({ id, sealed }) =>
        (key: Buffer) =>
          openEndpointSecret([key], id, sealed) !== undefined,
    ),
    ...tokenKeys.map(
      ({ id, sealed }) =>
        (key: Buffer) =>
          unseal(key, sealed, sealedFor(id)) !== undefined,
    ),
  ];
}

function wrongKeys(expected: string | undefined, keys: readonly Buffer[]): SettingsError {
  const [present, ...previous] = keys.map(keyIdOf);
  const given = previous.length > 0 ? `${present}, and the previous keys ${previous.join(', ')}` : present;
  return new SettingsError(
    'The service cannot start with these settings:\n' +
      `  ENCRYPTION_KEY must be the key that encrypted the data in this database, ${expected ? `the one with the id ${expected}` : 'whose id is unknown'}; ` +
      `given: ${given}. A key that was replaced belongs in ENCRYPTION_KEYS_PREVIOUS until "operator reseal" has run`,
  );
}

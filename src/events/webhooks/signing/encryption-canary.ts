import type { DataSource } from 'typeorm';
import { settingsRefused, type SettingsError } from '#platform/config/process-environment.js';
import { keyIdOf } from '#platform/secrets/purpose-key.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { sealedFor } from '#access/tokens/keys/token-keys.service.js';
import { EncryptionCanaryRepository, type Canary } from './encryption-canary.repository.js';

const TEXT = 'charging-data-service';
// Secrets that a reseal could not decrypt may remain; one that can be decrypted is enough.
const LOOKED_AT = 100;

const canaryOf = (key: Buffer): Canary => ({
  keyId: keyIdOf(key),
  sealed: new SealedBox('encryption canary', [key]).seal(TEXT, keyIdOf(key)),
});
const areRight = (keys: readonly Buffer[], { keyId, sealed }: Canary): boolean =>
  new SealedBox('encryption canary', keys).open(sealed, keyId) === TEXT;

/**
 * Verifies that the keys, current one first, belong to the database: one of them must decrypt its canary. A database without a
 * canary gets one if a key decrypts what is sealed in it, or nothing is sealed yet. Throws a SettingsError that names the
 * expected key.
 */
export async function verifyEncryptionKeys(dataSource: DataSource, keys: readonly Buffer[]): Promise<void> {
  const repository = new EncryptionCanaryRepository(dataSource);
  const canary = (await repository.find()) ?? (await makeCanary(repository, keys));
  if (!areRight(keys, canary)) throw wrongKeys(canary.keyId, keys);
}

/**
 * Seals the canary under the current key, after everything else was resealed. `lostKeyId` is the id of a key that is lost: the
 * canary is then replaced although it cannot be decrypted. Throws a SettingsError if the canary has another key.
 */
export async function resealCanary(
  dataSource: DataSource,
  keys: readonly Buffer[],
  lostKeyId?: string,
): Promise<void> {
  const repository = new EncryptionCanaryRepository(dataSource);
  const canary = await repository.find();
  if (!canary || canary.keyId !== lostKeyId) await verifyEncryptionKeys(dataSource, keys);
  await repository.replace(canaryOf(keys[0]!));
}

async function makeCanary(repository: EncryptionCanaryRepository, keys: readonly Buffer[]): Promise<Canary> {
  const sealed = await readSealed(repository);
  const key =
    sealed.length === 0 ? keys[0] : keys.find((each) => sealed.some((isOpenedBy) => isOpenedBy(each)));
  if (!key) throw wrongKeys(undefined, keys);
  await repository.insertOnce(canaryOf(key));
  // Or the canary of an instance that was faster.
  return (await repository.find())!;
}

/** A sample of what is sealed in the database, each as a function that tells whether a key decrypts it. */
async function readSealed(repository: EncryptionCanaryRepository): Promise<((key: Buffer) => boolean)[]> {
  const secrets = await repository.newestEndpointSecrets(LOOKED_AT);
  const tokenKeys = await repository.tokenKeys();
  return [
    ...secrets.map(
      ({ id, sealedSecret }) =>
        (key: Buffer) =>
          new SealedBox('webhook endpoint secret', [key]).open(sealedSecret, id) !== undefined,
    ),
    ...tokenKeys.map(
      ({ id, sealed }) =>
        (key: Buffer) =>
          new SealedBox('token key', [key]).open(sealed, sealedFor(id)) !== undefined,
    ),
  ];
}

function wrongKeys(expected: string | undefined, keys: readonly Buffer[]): SettingsError {
  const [present, ...previous] = keys.map(keyIdOf);
  const given = previous.length > 0 ? `${present}, and the previous keys ${previous.join(', ')}` : present;
  return settingsRefused(
    `ENCRYPTION_KEY must be the key that encrypted the data in this database, ${expected ? `the one with the id ${expected}` : 'whose id is unknown'}; ` +
      `given: ${given}. A key that was replaced belongs in ENCRYPTION_KEYS_PREVIOUS until "operator reseal" has run`,
  );
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { ClientSecretEntity } from '#access/clients/client-secret.entity.js';
import { ClientEntity } from '#access/clients/client.entity.js';
import { SettingsError } from '#platform/config/process-environment.js';
import type { Settings } from '#platform/config/settings.js';
import { connectionProblem, isPassing } from '#platform/database/connections/connection-problem.js';
import { migrate, prepare, withoutLock } from '#platform/database/migrations/migrate.js';
import {
  readSchemaState,
  refuseForeignSchema,
  type SchemaState,
} from '#platform/database/migrations/schema-state.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EncryptionCanaryEntity } from '#events/webhooks/signing/encryption-canary.entity.js';
import { verifyEncryptionKeys } from '#events/webhooks/signing/encryption-canary.js';
import { askAtStart } from './wait-for-database.js';
import { bootstrapOperator, isBootstrapped } from './bootstrap-operator.js';
import type { Demonstration } from './demonstration.js';

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 10_000;
// What the encryption key is checked with, and what the first operator and the demonstration consist of.
const FIRST_DATA = [
  AuditEventEntity,
  ClientEntity,
  ClientSecretEntity,
  EncryptionCanaryEntity,
  EndpointEntity,
  UserEntity,
];

/**
 * Prepares the database before the service serves: runs the migrations or waits for them, checks the encryption key, and creates
 * the first data. Throws a SettingsError for a schema or key that does not fit this build.
 */
export async function prepareDatabase(
  settings: Settings,
  log: Logger,
  demo: Demonstration | undefined,
  say: (line: string) => void,
): Promise<void> {
  const url = settings.databaseUrl!;
  const firstData: Parameters<typeof prepare>[1] = async (dataSource) => {
    await verifyEncryptionKeys(dataSource, settings.encryptionKeys);
    if (settings.bootstrapOperator) await bootstrapOperator(dataSource, settings.bootstrapOperator);
    await demo?.seed(dataSource);
  };
  const wait = { waitSeconds: settings.migrationWait, say };
  const migrates = settings.migrateOnStart || demo !== undefined;
  if (!migrates) await waitForMigrations(url, log);
  const isCurrent = async () => {
    if (!migrates) return true;
    const { missing, unrecorded } = await readState(url);
    return missing.length === 0 && unrecorded.length === 0;
  };
  // Read without the lock, so that an instance that needs nothing can start while another build migrates.
  if (!demo && (await isCurrent()) && (await hasFirstData(url, settings))) return;
  if (!migrates) return prepare(url, firstData, FIRST_DATA, wait);
  const slow = setTimeout(() => say('Running database migrations …'), 1000);
  await migrate(url, firstData, { entities: FIRST_DATA, ...wait }).finally(() => clearTimeout(slow));
}

/** Whether there is no first operator to create. Verifies the encryption key. */
function hasFirstData(
  url: string,
  { encryptionKeys, bootstrapOperator: operator }: Settings,
): Promise<boolean> {
  return withoutLock(url, FIRST_DATA, async (dataSource) => {
    await verifyEncryptionKeys(dataSource, encryptionKeys);
    return !operator || isBootstrapped(dataSource.manager, operator);
  });
}

/** Resolves once the database has the migrations of this build. */
async function waitForMigrations(url: string, log: Logger): Promise<void> {
  for (let told: string | undefined; ;) {
    const wait = await reasonToWait(url);
    if (!wait) return;
    if (wait.for !== told) log.warn(wait.line);
    told = wait.for;
    await pause(LOOK_EVERY_MS);
  }
}

async function reasonToWait(url: string): Promise<{ for: string; line: string } | undefined> {
  try {
    const { missing } = await readState(url);
    if (missing.length === 0) return undefined;
    const line = `MIGRATE_ON_START is false: waiting until "npm run operator -- migrate" has run the missing migrations: ${missing.join(', ')}`;
    return { for: 'migrations', line };
  } catch (error) {
    // A database that restarts meanwhile comes back.
    if (error instanceof SettingsError || !isPassing(error)) throw error;
    return { for: 'database', line: `Waiting for the database: ${connectionProblem(error)}` };
  }
}

/** The state of the schema. Throws a SettingsError if it requires a newer build, or was made by other migrations. */
const readState = (url: string): Promise<SchemaState> =>
  askAtStart(url, ANSWER_MS, async (connection) => {
    const ask = async <Row>(sql: string) => (await connection.query(sql)).rows as Row[];
    const state = await readSchemaState(ask);
    refuseForeignSchema(state);
    return state;
  });

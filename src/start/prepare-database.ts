import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AuditEventEntity } from '../audit/audit-event.entity.js';
import { ClientSecretEntity } from '../clients/client-secret.entity.js';
import { ClientEntity } from '../clients/client.entity.js';
import type { Settings } from '../config/settings.js';
import { newConnection } from '../database/connections/connections.js';
import { migrate, prepare } from '../database/migrations/migrate.js';
import {
  readSchemaState,
  refuseForeignSchema,
  type SchemaState,
} from '../database/migrations/schema-state.js';
import { UserEntity } from '../users/accounts/user.entity.js';
import { EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';
import { EncryptionCanaryEntity } from '../webhooks/signing/encryption-canary.entity.js';
import { verifyEncryptionKeys } from '../webhooks/signing/encryption-canary.js';
import { bootstrapOperator } from './bootstrap-operator.js';
import type { Demonstration } from './demonstration.js';

const LOOK_EVERY_MS = 1_000;
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
  if (settings.migrateOnStart || demo) {
    const slow = setTimeout(() => say('Running database migrations …'), 1000);
    await migrate(url, firstData, { entities: FIRST_DATA, ...wait }).finally(() => clearTimeout(slow));
    return;
  }
  await waitForMigrations(url, log);
  await prepare(url, firstData, FIRST_DATA, wait);
}

/** Resolves once the database has the migrations of this build. */
async function waitForMigrations(url: string, log: Logger): Promise<void> {
  for (let told = false; ; told = true) {
    const state = await look(url);
    refuseForeignSchema(state);
    if (state.missing.length === 0) return;
    if (!told) {
      log.warn(
        `MIGRATE_ON_START is false: waiting until "npm run operator -- migrate" has run the missing migrations: ${state.missing.join(', ')}`,
      );
    }
    await pause(LOOK_EVERY_MS);
  }
}

async function look(url: string): Promise<SchemaState> {
  const client = newConnection(url, { application_name: 'charging-data-service start' });
  await client.connect();
  try {
    return await readSchemaState(async <Row>(sql: string) => (await client.query(sql)).rows as Row[]);
  } finally {
    await client.end();
  }
}

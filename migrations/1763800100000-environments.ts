import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/**
 * Clients and users are live or in a sandbox (contract §19). `realm` is `live`, or the id of the owner whose sandbox it is: rows
 * with different realms cannot be joined, because every foreign key between them carries it. What is stored of grants and codes
 * refers to a consent, which has it. What an older build inserts meanwhile is live (docs/decisions/0022-realms.md).
 */
export class Environments1763800100000 implements MigrationInterface {
  name = 'Environments1763800100000';
  /** Every table is read and written meanwhile; every step may run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients
        ADD COLUMN IF NOT EXISTS environment text NOT NULL DEFAULT 'live',
        ADD COLUMN IF NOT EXISTS realm text NOT NULL DEFAULT 'live',
        -- For the foreign key that says that owners are live.
        ADD COLUMN IF NOT EXISTS owner_realm text NOT NULL DEFAULT 'live'
    `);
    await queryRunner.query(`
      ALTER TABLE users
        ADD COLUMN IF NOT EXISTS environment text NOT NULL DEFAULT 'live',
        ADD COLUMN IF NOT EXISTS realm text NOT NULL DEFAULT 'live',
        ADD COLUMN IF NOT EXISTS sandbox_owner_id text,
        ADD COLUMN IF NOT EXISTS owner_realm text NOT NULL DEFAULT 'live'
    `);
    for (const table of CARRYING)
      await queryRunner.query(
        `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS realm text NOT NULL DEFAULT 'live'`,
      );
    for (const table of REFERENCED)
      await createIndexConcurrently(queryRunner, {
        name: `${table}_realm_key`,
        on: `${table} (id, realm)`,
        unique: true,
      });
    await createIndexConcurrently(queryRunner, {
      name: 'users_sandbox_owner_id_idx',
      on: 'users (sandbox_owner_id, id) WHERE sandbox_owner_id IS NOT NULL',
    });
    await createIndexConcurrently(queryRunner, {
      name: 'clients_sandbox_idx',
      on: "clients (id) WHERE environment = 'sandbox'",
    });
    for (const [table, name, rule] of CONSTRAINTS) {
      await queryRunner.query(`
        ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}, ADD CONSTRAINT ${name} ${rule} NOT VALID
      `);
      await queryRunner.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${name}`);
    }
    for (const [table, replaced] of REPLACED)
      await queryRunner.query(`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${replaced}`);
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION refuse_other_environment() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'the environment of % is fixed', OLD.id USING ERRCODE = 'restrict_violation';
        END
      $$
    `);
    // The only rule that no key or check can say: it compares a row with what it was.
    for (const table of ['clients', 'users'])
      await queryRunner.query(`
        CREATE OR REPLACE TRIGGER ${table}_environment_fixed BEFORE UPDATE OF environment, realm ON ${table}
          FOR EACH ROW WHEN (OLD.realm IS DISTINCT FROM NEW.realm) EXECUTE FUNCTION refuse_other_environment()
      `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM clients WHERE environment = 'sandbox';
      DELETE FROM users WHERE environment = 'sandbox';
      DELETE FROM events WHERE realm <> 'live';
      DROP TRIGGER clients_environment_fixed ON clients;
      DROP TRIGGER users_environment_fixed ON users;
      DROP FUNCTION refuse_other_environment;
      ALTER TABLE deliveries
        ADD CONSTRAINT deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE,
        ADD CONSTRAINT deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints (id) ON DELETE CASCADE;
      ALTER TABLE events
        ADD CONSTRAINT events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE SET NULL;
    `);
    for (const [table, name] of CONSTRAINTS)
      await queryRunner.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    for (const table of REFERENCED) await queryRunner.query(`DROP INDEX ${table}_realm_key`);
    await queryRunner.query('DROP INDEX users_sandbox_owner_id_idx, clients_sandbox_idx');
    for (const table of CARRYING) await queryRunner.query(`ALTER TABLE ${table} DROP COLUMN realm`);
    await queryRunner.query(`
      ALTER TABLE users DROP COLUMN environment, DROP COLUMN realm, DROP COLUMN sandbox_owner_id, DROP COLUMN owner_realm;
      ALTER TABLE clients DROP COLUMN environment, DROP COLUMN realm, DROP COLUMN owner_realm;
    `);
  }
}

const CARRYING = ['consents', 'webhook_endpoints', 'events', 'deliveries'];
const REFERENCED = ['clients', 'users', 'webhook_endpoints', 'events'];

const reference = (columns: string, to: string, onDelete = 'CASCADE'): string =>
  `FOREIGN KEY (${columns}) REFERENCES ${to} (id, realm) ON DELETE ${onDelete}`;

const CONSTRAINTS: [table: string, name: string, rule: string][] = [
  [
    'clients',
    'clients_environment_check',
    `CHECK (owner_realm = 'live' AND CASE environment
       WHEN 'live' THEN realm = 'live'
       WHEN 'sandbox' THEN realm = owner_id AND NOT trusted AND NOT scopes && ARRAY['admin:read', 'admin:write']
       ELSE false END)`,
  ],
  [
    'users',
    'users_environment_check',
    // A driver of a sandbox has nothing to log in with, and no address that mail is sent to.
    `CHECK (owner_realm = 'live' AND CASE environment
       WHEN 'live' THEN realm = 'live' AND sandbox_owner_id IS NULL
       WHEN 'sandbox' THEN sandbox_owner_id IS NOT NULL AND realm = sandbox_owner_id AND role = 'user'
                       AND password_hash IS NULL AND email_verified_at IS NULL AND email_key LIKE '%@sandbox.invalid'
       ELSE false END)`,
  ],
  ['clients', 'clients_owner_realm_fkey', reference('owner_id, owner_realm', 'users', 'NO ACTION')],
  ['users', 'users_sandbox_owner_fkey', reference('sandbox_owner_id, owner_realm', 'users')],
  ['consents', 'consents_client_realm_fkey', reference('client_id, realm', 'clients')],
  ['consents', 'consents_user_realm_fkey', reference('user_id, realm', 'users')],
  ['webhook_endpoints', 'webhook_endpoints_client_realm_fkey', reference('client_id, realm', 'clients')],
  ['events', 'events_user_realm_fkey', reference('user_id, realm', 'users', 'SET NULL (user_id)')],
  ['deliveries', 'deliveries_event_realm_fkey', reference('event_id, realm', 'events')],
  ['deliveries', 'deliveries_endpoint_realm_fkey', reference('endpoint_id, realm', 'webhook_endpoints')],
];

/** Said by the new ones as well, so that an event and a delivery are checked as often as before. */
const REPLACED: [table: string, name: string][] = [
  ['events', 'events_user_id_fkey'],
  ['deliveries', 'deliveries_event_id_fkey'],
  ['deliveries', 'deliveries_endpoint_id_fkey'],
];

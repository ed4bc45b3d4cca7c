import type { MigrationInterface, QueryRunner } from 'typeorm';
import { AccessChanges1763670000000 } from './1763670000000-access-changes.js';

/**
 * Every change that takes access away or alters it is recorded in the same transaction, however it was made: the ids of what
 * changed, with the number of the transaction. Instances read these records several times a second, so announcements are no
 * longer needed. Issuing tokens and purging expired rows records nothing.
 */
export class AccessChangeWindow1763699200000 implements MigrationInterface {
  name = 'AccessChangeWindow1763699200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await new AccessChanges1763670000000().down(queryRunner);
    await queryRunner.query(`
      CREATE TABLE access_changes (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        -- '*' means everything.
        ids text[] NOT NULL,
        -- Shortly after the commit, written by the purge; infinity until then.
        committed_by timestamptz NOT NULL DEFAULT 'infinity'
      );
      CREATE INDEX access_changes_xid_idx ON access_changes (xid);
      CREATE INDEX access_changes_committed_by_idx ON access_changes (committed_by);

      -- More than a thousand ids are recorded as the ids of their clients, or as everything.
      CREATE FUNCTION record_access_changes(ids text[], of_clients text[]) RETURNS void LANGUAGE sql AS $$
        INSERT INTO access_changes (ids)
        SELECT CASE WHEN cardinality(ids) <= 1000 THEN ids
                    WHEN cardinality(of_clients) BETWEEN 1 AND 1000 THEN of_clients
                    ELSE ARRAY['*'] END
         WHERE cardinality(ids) > 0;
      $$;
    `);
    await queryRunner.query(RECORDING_FUNCTIONS);
    await queryRunner.query(RECORD_ACCESS_TOKENS);
    for (const [table, record] of Object.entries(RECORDED)) {
      await queryRunner.query(`
        CREATE TRIGGER ${table}_record_update AFTER UPDATE ON ${table} REFERENCING OLD TABLE AS changed
          FOR EACH STATEMENT EXECUTE FUNCTION ${record}();
        CREATE TRIGGER ${table}_record_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed
          FOR EACH STATEMENT EXECUTE FUNCTION ${record}();
        CREATE TRIGGER ${table}_record_truncate AFTER TRUNCATE ON ${table}
          FOR EACH STATEMENT EXECUTE FUNCTION record_all_changed();
      `);
    }
    // An instance that has cached a client's secrets, or the keys, does not know a new one yet.
    for (const table of ['client_secrets', 'token_keys'] as const) {
      await queryRunner.query(`
        CREATE TRIGGER ${table}_record_insert AFTER INSERT ON ${table} REFERENCING NEW TABLE AS changed
          FOR EACH STATEMENT EXECUTE FUNCTION ${RECORDED[table]}();
      `);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['client_secrets', 'token_keys']) {
      await queryRunner.query(`DROP TRIGGER ${table}_record_insert ON ${table}`);
    }
    for (const table of Object.keys(RECORDED)) {
      await queryRunner.query(`
        DROP TRIGGER ${table}_record_update ON ${table};
        DROP TRIGGER ${table}_record_delete ON ${table};
        DROP TRIGGER ${table}_record_truncate ON ${table};
      `);
    }
    await queryRunner.query(`
      DROP FUNCTION ${[...new Set(Object.values(RECORDED)), 'record_all_changed'].join(', ')};
      DROP FUNCTION record_access_changes;
      DROP TABLE access_changes;
    `);
    await new AccessChanges1763670000000().up(queryRunner);
  }
}

const RECORDED = {
  clients: 'record_rows_changed',
  client_secrets: 'record_secrets_changed',
  users: 'record_rows_changed',
  consents: 'record_consents_changed',
  grants: 'record_grants_changed',
  access_tokens: 'record_token_revoked',
  token_keys: 'record_keys_changed',
};

/** One for each kind of table; 1763800500000 replaces them. */
export const RECORDING_FUNCTIONS = `
  CREATE OR REPLACE FUNCTION record_rows_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(ARRAY(SELECT id::text FROM changed), '{}');
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_secrets_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(
        ARRAY(SELECT DISTINCT client_id FROM changed WHERE expires_at IS NULL OR expires_at > now()), '{}');
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_consents_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(
        ARRAY(SELECT DISTINCT user_id FROM changed WHERE revoked_at IS NULL),
        ARRAY(SELECT DISTINCT client_id || ' users' FROM changed WHERE revoked_at IS NULL));
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_grants_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(
        ARRAY(SELECT id FROM changed WHERE revoked_at IS NULL AND expires_at > now()),
        ARRAY(SELECT DISTINCT client_id || ' users' FROM changed WHERE revoked_at IS NULL AND expires_at > now()));
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(ARRAY['token keys'], '{}');
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_all_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(ARRAY['*'], '{}');
      RETURN NULL;
    END
  $$;
`;

/** The same for access tokens, while they had rows. */
export const RECORD_ACCESS_TOKENS = `
  CREATE OR REPLACE FUNCTION record_token_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(
        ARRAY(SELECT encode(digest, 'base64') FROM changed WHERE revoked_at IS NULL AND expires_at > now()), '{}');
      RETURN NULL;
    END
  $$;
`;

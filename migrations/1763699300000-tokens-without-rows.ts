import type { MigrationInterface, QueryRunner } from 'typeorm';
import { RECORD_ACCESS_TOKENS } from './1763699200000-access-change-window.js';
import { requireMigration, unrequireMigration } from './support/required-migration.js';

/**
 * Tokens no longer have rows: an access token itself says what was issued, and the grant's row holds the generation of its
 * refresh token (docs/decisions/0012-tokens-without-rows.md). **Every token issued before ends here**, and so does every grant,
 * because nothing could refresh it: users authorize again, clients request new tokens. Older builds cannot work with this schema.
 * Nothing was released before it, so it contracts at once and locks several tables in one step: by then instances of older builds
 * have been told to stop sending queries, and if a lock is not available within two seconds, everything is rolled back and tried
 * again.
 */
export class TokensWithoutRows1763699300000 implements MigrationInterface {
  name = 'TokensWithoutRows1763699300000';
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await requireMigration(queryRunner, this.name);
    // Statements that are sent together are one transaction: after a kill either all or none of them took effect.
    await queryRunner.query(`
      DROP TABLE sealed_successors, refresh_tokens, access_tokens;
      DROP FUNCTION record_token_revoked;
      DELETE FROM grants;

      ALTER TABLE grants
        ADD COLUMN generation integer NOT NULL DEFAULT 0,
        -- The other fields of the access token: the key that signed it, the stamp of its rights, its start and its expiry.
        ADD COLUMN token_key_id bigint NOT NULL,
        ADD COLUMN token_era bigint NOT NULL,
        ADD COLUMN token_position bigint NOT NULL,
        ADD COLUMN issued_at timestamptz NOT NULL DEFAULT now(),
        ADD COLUMN access_expires_at timestamptz NOT NULL,
        -- Null: all scopes of the grant.
        ADD COLUMN asked_scopes text[],
        ADD COLUMN given_scopes text[],
        ADD COLUMN refresh_expires_at timestamptz NOT NULL,
        -- When the last generations were retired, the newest first: at most 16, none older than the grace time at that moment.
        ADD COLUMN rotations timestamptz[] NOT NULL DEFAULT '{}',
        -- When to check whether refresh_expires_at is over. That column changes with every rotation, so it has no index.
        ADD COLUMN look_again_at timestamptz NOT NULL;
      -- A rotation changes no indexed column, and the new row fits beside the old one: a heap-only update.
      ALTER TABLE grants SET (fillfactor = 80);
      CREATE INDEX grants_look_again_at_idx ON grants (look_again_at);

      ALTER TABLE scopes ADD COLUMN number integer GENERATED ALWAYS AS IDENTITY CONSTRAINT scopes_number_key UNIQUE;
      -- Incremented to end all tokens that a client has in its own name.
      ALTER TABLE clients ADD COLUMN token_epoch integer NOT NULL DEFAULT 0;

      CREATE TABLE revoked_access_tokens (
        id text PRIMARY KEY,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX revoked_access_tokens_expires_at_idx ON revoked_access_tokens (expires_at);

      ${RECORD_TOKENS_AND_ROTATIONS}
      CREATE TRIGGER revoked_access_tokens_record_insert AFTER INSERT ON revoked_access_tokens
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION record_token_revoked();
      CREATE TRIGGER revoked_access_tokens_record_delete AFTER DELETE ON revoked_access_tokens
        REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION record_token_revoked();
      CREATE TRIGGER revoked_access_tokens_record_truncate AFTER TRUNCATE ON revoked_access_tokens
        FOR EACH STATEMENT EXECUTE FUNCTION record_all_changed();
      DROP TRIGGER grants_record_update ON grants;
      CREATE TRIGGER grants_record_update AFTER UPDATE ON grants REFERENCING OLD TABLE AS changed NEW TABLE AS now_so
        FOR EACH STATEMENT EXECUTE FUNCTION record_grants_updated();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER grants_record_update ON grants;
      CREATE TRIGGER grants_record_update AFTER UPDATE ON grants REFERENCING OLD TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION record_grants_changed();
      DROP FUNCTION record_grants_updated;
      DROP TABLE revoked_access_tokens;
      DROP FUNCTION record_token_revoked;
      ALTER TABLE clients DROP COLUMN token_epoch;
      ALTER TABLE scopes DROP COLUMN number;
      DELETE FROM grants;
      ALTER TABLE grants RESET (fillfactor);
      ALTER TABLE grants
        DROP COLUMN generation, DROP COLUMN token_key_id, DROP COLUMN token_era, DROP COLUMN token_position,
        DROP COLUMN issued_at, DROP COLUMN access_expires_at, DROP COLUMN asked_scopes, DROP COLUMN given_scopes,
        DROP COLUMN refresh_expires_at, DROP COLUMN rotations, DROP COLUMN look_again_at;

      CREATE TABLE access_tokens (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        grant_id text REFERENCES grants (id) ON DELETE CASCADE,
        scopes text[] NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz
      );
      CREATE INDEX access_tokens_client_id_idx ON access_tokens (client_id);
      CREATE INDEX access_tokens_grant_id_idx ON access_tokens (grant_id) WHERE grant_id IS NOT NULL;
      CREATE INDEX access_tokens_expires_at_idx ON access_tokens (expires_at);

      CREATE TABLE refresh_tokens (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        grant_id text NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        retired_at timestamptz,
        grace_ends_at timestamptz,
        successor_digest bytea CHECK (octet_length(successor_digest) = 32),
        successor_access_digest bytea CHECK (octet_length(successor_access_digest) = 32),
        CHECK ((retired_at IS NULL) = (successor_digest IS NULL))
      );
      CREATE UNIQUE INDEX refresh_tokens_live_idx ON refresh_tokens (grant_id) WHERE retired_at IS NULL;
      CREATE INDEX refresh_tokens_grant_id_idx ON refresh_tokens (grant_id);
      CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at) WHERE retired_at IS NULL;

      CREATE TABLE sealed_successors (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        grace_ends_at timestamptz NOT NULL,
        sealed bytea NOT NULL
      );
      CREATE INDEX sealed_successors_grace_ends_at_idx ON sealed_successors (grace_ends_at);

      ${RECORD_ACCESS_TOKENS}
      CREATE TRIGGER access_tokens_record_update AFTER UPDATE ON access_tokens REFERENCING OLD TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION record_token_revoked();
      CREATE TRIGGER access_tokens_record_delete AFTER DELETE ON access_tokens REFERENCING OLD TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION record_token_revoked();
      CREATE TRIGGER access_tokens_record_truncate AFTER TRUNCATE ON access_tokens
        FOR EACH STATEMENT EXECUTE FUNCTION record_all_changed();
    `);
    await unrequireMigration(queryRunner, this.name);
  }
}

/** For revoked tokens and changed grants; 1763800500000 replaces them. */
export const RECORD_TOKENS_AND_ROTATIONS = `
  CREATE OR REPLACE FUNCTION record_token_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(ARRAY(SELECT id FROM changed WHERE expires_at > now()), '{}');
      RETURN NULL;
    END
  $$;

  -- A rotation takes no access away, so it records nothing.
  CREATE OR REPLACE FUNCTION record_grants_updated() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      ids text[];
      of_clients text[];
    BEGIN
      SELECT array_agg(id), array_agg(DISTINCT client_id || ' users') INTO ids, of_clients FROM (
        SELECT id, client_id, user_id, scopes, expires_at, revoked_at FROM changed
        EXCEPT SELECT id, client_id, user_id, scopes, expires_at, revoked_at FROM now_so
      ) AS c WHERE revoked_at IS NULL AND expires_at > now();
      IF ids IS NOT NULL THEN
        PERFORM record_access_changes(ids, of_clients);
      END IF;
      RETURN NULL;
    END
  $$;
`;

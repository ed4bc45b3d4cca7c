import type { MigrationInterface, QueryRunner } from 'typeorm';
import { RECORDING_FUNCTIONS } from './1763699200000-access-change-window.js';
import { RECORD_TOKENS_AND_ROTATIONS } from './1763699300000-tokens-without-rows.js';

/**
 * Each access change also says whom it is about, by client and user, for services that remember introspections (contract §23): a
 * JSON array of objects with `client_id`, `user_id`, or both; an empty object means everybody, and so does null, which is what
 * older builds leave. The ids of before say which tokens an instance has to check again; another service does not know those.
 *
 * It also notes up to which transaction changes were purged, so that a position is known to be too old. The function with two
 * parameters stays, for a trigger that is at work just now; a later release removes it.
 */
export class AccessChangeSubjects1763800500000 implements MigrationInterface {
  name = 'AccessChangeSubjects1763800500000';
  /** Each table is locked by itself; every step may run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE access_changes ADD COLUMN IF NOT EXISTS about jsonb');
    await queryRunner.query(`
      ALTER TABLE revoked_access_tokens
        ADD COLUMN IF NOT EXISTS client_id text, ADD COLUMN IF NOT EXISTS user_id text
    `);
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS access_changes_purged (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        -- The newest transaction with a change that was purged.
        up_to xid8 NOT NULL
      );
      INSERT INTO access_changes_purged (up_to) VALUES ('0') ON CONFLICT DO NOTHING;
    `);
    await queryRunner.query(FUNCTIONS);
    await queryRunner.query(`
      DROP TRIGGER IF EXISTS access_changes_note_delete ON access_changes;
      CREATE TRIGGER access_changes_note_delete AFTER DELETE ON access_changes REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION note_purged_changes();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER access_changes_note_delete ON access_changes;
      DROP FUNCTION note_purged_changes;
      DROP TABLE access_changes_purged;
      ${RECORDING_FUNCTIONS}
      ${RECORD_TOKENS_AND_ROTATIONS}
      DROP FUNCTION record_access_changes(text[], text[], jsonb);
      DROP FUNCTION access_change_subjects;
      ALTER TABLE revoked_access_tokens DROP COLUMN client_id, DROP COLUMN user_id;
      ALTER TABLE access_changes DROP COLUMN about;
    `);
  }
}

const FUNCTIONS = `
  -- One entry of each array for each row; a null stands for any. More than a thousand are recorded as their clients, or as everybody.
  CREATE OR REPLACE FUNCTION access_change_subjects(of_clients text[], of_users text[]) RETURNS jsonb LANGUAGE sql AS $$
    WITH pairs AS (SELECT DISTINCT client_id, user_id FROM unnest(of_clients, of_users) AS p (client_id, user_id))
    SELECT CASE
      WHEN (SELECT count(*) <= 1000 FROM pairs) THEN (
        SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('client_id', client_id, 'user_id', user_id))), '[]')
          FROM pairs)
      WHEN (SELECT count(*) = count(client_id) AND count(DISTINCT client_id) <= 1000 FROM pairs) THEN (
        SELECT jsonb_agg(DISTINCT jsonb_build_object('client_id', client_id)) FROM pairs)
      ELSE '[{}]' END
  $$;

  CREATE OR REPLACE FUNCTION record_access_changes(ids text[], of_clients text[], about jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO access_changes (ids, about)
    SELECT CASE WHEN cardinality(ids) <= 1000 THEN ids
                WHEN cardinality(of_clients) BETWEEN 1 AND 1000 THEN of_clients
                ELSE ARRAY['*'] END, about
     WHERE cardinality(ids) > 0;
  $$;

  -- Of users also the clients that they own, whose tokens in their own name end with them.
  CREATE OR REPLACE FUNCTION record_rows_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      ids text[] := ARRAY(SELECT id::text FROM changed);
      owned text[];
    BEGIN
      IF TG_TABLE_NAME = 'users' THEN
        owned := ARRAY(SELECT id FROM clients WHERE owner_id = ANY (ids));
        PERFORM record_access_changes(ids, '{}', access_change_subjects(
          array_fill(NULL::text, ARRAY[cardinality(ids)]) || owned,
          ids || array_fill(NULL::text, ARRAY[cardinality(owned)])));
      ELSE
        PERFORM record_access_changes(ids, '{}',
          access_change_subjects(ids, array_fill(NULL::text, ARRAY[cardinality(ids)])));
      END IF;
      RETURN NULL;
    END
  $$;

  -- A token does not depend on the secrets of its client.
  CREATE OR REPLACE FUNCTION record_secrets_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(
        ARRAY(SELECT DISTINCT client_id FROM changed WHERE expires_at IS NULL OR expires_at > now()), '{}', '[]');
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_consents_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(
        ARRAY(SELECT DISTINCT user_id FROM changed WHERE revoked_at IS NULL),
        ARRAY(SELECT DISTINCT client_id || ' users' FROM changed WHERE revoked_at IS NULL),
        (SELECT access_change_subjects(array_agg(client_id), array_agg(user_id)) FROM changed WHERE revoked_at IS NULL));
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_grants_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(
        ARRAY(SELECT id FROM changed WHERE revoked_at IS NULL AND expires_at > now()),
        ARRAY(SELECT DISTINCT client_id || ' users' FROM changed WHERE revoked_at IS NULL AND expires_at > now()),
        (SELECT access_change_subjects(array_agg(client_id), array_agg(user_id)) FROM changed
          WHERE revoked_at IS NULL AND expires_at > now()));
      RETURN NULL;
    END
  $$;

  -- A rotation takes no access away, so it records nothing.
  CREATE OR REPLACE FUNCTION record_grants_updated() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      ids text[];
      of_clients text[];
      about jsonb;
    BEGIN
      SELECT array_agg(id), array_agg(DISTINCT client_id || ' users'),
             access_change_subjects(array_agg(client_id), array_agg(user_id)) INTO ids, of_clients, about FROM (
        SELECT id, client_id, user_id, scopes, expires_at, revoked_at FROM changed
        EXCEPT SELECT id, client_id, user_id, scopes, expires_at, revoked_at FROM now_so
      ) AS c WHERE revoked_at IS NULL AND expires_at > now();
      IF ids IS NOT NULL THEN
        PERFORM record_access_changes(ids, of_clients, about);
      END IF;
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_token_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(
        ARRAY(SELECT id FROM changed WHERE expires_at > now()), '{}',
        (SELECT access_change_subjects(array_agg(client_id), array_agg(user_id)) FROM changed WHERE expires_at > now()));
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- A purge that finds nothing changes nothing.
      IF EXISTS (SELECT 1 FROM changed) THEN
        PERFORM record_access_changes(ARRAY['token keys'], '{}', '[{}]');
      END IF;
      RETURN NULL;
    END
  $$;

  CREATE OR REPLACE FUNCTION record_all_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM record_access_changes(ARRAY['*'], '{}', '[{}]');
      RETURN NULL;
    END
  $$;

  -- Changes from before a restore have numbers that are still to come; deleting them says nothing.
  CREATE OR REPLACE FUNCTION note_purged_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      newest xid8 := (SELECT xid FROM gone WHERE xid < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY xid DESC LIMIT 1);
    BEGIN
      UPDATE access_changes_purged SET up_to = newest WHERE up_to < newest;
      RETURN NULL;
    END
  $$;
`;

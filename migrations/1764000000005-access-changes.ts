import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Every change that takes access away or alters it is recorded in the same transaction, however it was made: the ids of what changed,
 * with the number of the transaction. Instances read these records several times a second. Issuing tokens and purging expired rows
 * records nothing.
 *
 * Each change also says whom it is about, by client and user, for services that remember introspections (contract §23). The ids say
 * which tokens an instance has to check again; another service does not know those.
 */
export class AccessChanges1764000000005 implements MigrationInterface {
  name = 'AccessChanges1764000000005';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE access_changes (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        -- '*' means everything.
        ids text[] NOT NULL,
        -- An array of objects with client_id, user_id, or both; an empty object, or null, means everybody.
        about jsonb,
        -- Shortly after the commit, written by the purge; infinity until then.
        committed_by timestamptz NOT NULL DEFAULT 'infinity'
      );
      CREATE INDEX access_changes_xid_idx ON access_changes (xid);
      CREATE INDEX access_changes_committed_by_idx ON access_changes (committed_by);

      -- Tells that a position is too old.
      CREATE TABLE access_changes_purged (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        -- The newest transaction with a change that was purged.
        up_to xid8 NOT NULL
      );
      INSERT INTO access_changes_purged (up_to) VALUES ('0');

      -- One entry of each array for each row; a null stands for any. More than a thousand are recorded as their clients, or as everybody.
      CREATE FUNCTION access_change_subjects(of_clients text[], of_users text[]) RETURNS jsonb LANGUAGE sql AS $$
        WITH pairs AS (SELECT DISTINCT client_id, user_id FROM unnest(of_clients, of_users) AS p (client_id, user_id))
        SELECT CASE
          WHEN (SELECT count(*) <= 1000 FROM pairs) THEN (
            SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('client_id', client_id, 'user_id', user_id))), '[]')
              FROM pairs)
          WHEN (SELECT count(*) = count(client_id) AND count(DISTINCT client_id) <= 1000 FROM pairs) THEN (
            SELECT jsonb_agg(DISTINCT jsonb_build_object('client_id', client_id)) FROM pairs)
          ELSE '[{}]' END
      $$;

      CREATE FUNCTION record_access_changes(ids text[], of_clients text[], about jsonb) RETURNS void LANGUAGE sql AS $$
        INSERT INTO access_changes (ids, about)
        SELECT CASE WHEN cardinality(ids) <= 1000 THEN ids
                    WHEN cardinality(of_clients) BETWEEN 1 AND 1000 THEN of_clients
                    ELSE ARRAY['*'] END, about
         WHERE cardinality(ids) > 0;
      $$;

      -- Of users also the clients that they own, whose tokens in their own name end with them.
      CREATE FUNCTION record_rows_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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
      CREATE FUNCTION record_secrets_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM record_access_changes(
            ARRAY(SELECT DISTINCT client_id FROM changed WHERE expires_at IS NULL OR expires_at > now()), '{}', '[]');
          RETURN NULL;
        END
      $$;

      CREATE FUNCTION record_consents_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM record_access_changes(
            ARRAY(SELECT DISTINCT user_id FROM changed WHERE revoked_at IS NULL),
            ARRAY(SELECT DISTINCT client_id || ' users' FROM changed WHERE revoked_at IS NULL),
            (SELECT access_change_subjects(array_agg(client_id), array_agg(user_id)) FROM changed WHERE revoked_at IS NULL));
          RETURN NULL;
        END
      $$;

      CREATE FUNCTION record_grants_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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
      CREATE FUNCTION record_grants_updated() RETURNS trigger LANGUAGE plpgsql AS $$
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

      CREATE FUNCTION record_token_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM record_access_changes(
            ARRAY(SELECT id FROM changed WHERE expires_at > now()), '{}',
            (SELECT access_change_subjects(array_agg(client_id), array_agg(user_id)) FROM changed WHERE expires_at > now()));
          RETURN NULL;
        END
      $$;

      CREATE FUNCTION record_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          -- A purge that finds nothing changes nothing.
          IF EXISTS (SELECT 1 FROM changed) THEN
            PERFORM record_access_changes(ARRAY['token keys'], '{}', '[{}]');
          END IF;
          RETURN NULL;
        END
      $$;

      CREATE FUNCTION record_all_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM record_access_changes(ARRAY['*'], '{}', '[{}]');
          RETURN NULL;
        END
      $$;

      -- Changes from before a restore have numbers that are still to come; deleting them says nothing.
      CREATE FUNCTION note_purged_changes() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
          newest xid8 := (SELECT xid FROM gone WHERE xid < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY xid DESC LIMIT 1);
        BEGIN
          UPDATE access_changes_purged SET up_to = newest WHERE up_to < newest;
          RETURN NULL;
        END
      $$;

      CREATE TRIGGER grants_record_update AFTER UPDATE ON grants REFERENCING OLD TABLE AS changed NEW TABLE AS now_so
        FOR EACH STATEMENT EXECUTE FUNCTION record_grants_updated();
      CREATE TRIGGER access_changes_note_delete AFTER DELETE ON access_changes REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION note_purged_changes();
    `);
    for (const [table, record, events] of RECORDED) {
      const triggers = events.map(
        (event) => `
          CREATE TRIGGER ${table}_record_${event.toLowerCase()} AFTER ${event} ON ${table}
            REFERENCING ${event === 'INSERT' ? 'NEW' : 'OLD'} TABLE AS changed
            FOR EACH STATEMENT EXECUTE FUNCTION ${record}();`,
      );
      await queryRunner.query(`
        ${triggers.join('')}
        CREATE TRIGGER ${table}_record_truncate AFTER TRUNCATE ON ${table}
          FOR EACH STATEMENT EXECUTE FUNCTION record_all_changed();
      `);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION record_rows_changed, record_secrets_changed, record_consents_changed, record_grants_changed,
        record_grants_updated, record_keys_changed, record_token_revoked, record_all_changed, note_purged_changes CASCADE;
      DROP FUNCTION record_access_changes, access_change_subjects;
      DROP TABLE access_changes_purged, access_changes;
    `);
  }
}

/**
 * What records the changes of each table. A new secret or key is one, because an instance that has cached the others does not know
 * it. Updates of grants have their own trigger above, because rotations are among them.
 */
const RECORDED: [table: string, record: string, events: ('INSERT' | 'UPDATE' | 'DELETE')[]][] = [
  ['clients', 'record_rows_changed', ['UPDATE', 'DELETE']],
  ['client_secrets', 'record_secrets_changed', ['INSERT', 'UPDATE', 'DELETE']],
  ['users', 'record_rows_changed', ['UPDATE', 'DELETE']],
  ['consents', 'record_consents_changed', ['UPDATE', 'DELETE']],
  ['grants', 'record_grants_changed', ['DELETE']],
  ['revoked_access_tokens', 'record_token_revoked', ['INSERT', 'DELETE']],
  ['token_keys', 'record_keys_changed', ['INSERT', 'UPDATE', 'DELETE']],
];

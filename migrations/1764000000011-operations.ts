import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators work with: the audit log, approvals, and activity by hour. And which migrations a build must know. */
export class Operations1764000000011 implements MigrationInterface {
  name = 'Operations1764000000011';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- An id of an entry is a ULID whose time is followed by the microseconds within the millisecond, so that the entries of one
      -- transaction stay in order.
      CREATE FUNCTION new_audit_event_id() RETURNS text LANGUAGE sql VOLATILE PARALLEL SAFE
        SET search_path = pg_catalog, pg_temp AS $$
        WITH alphabet (letters) AS (SELECT '0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
             clock (us) AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
             made (ms, us, noise) AS MATERIALIZED (
               SELECT us / 1000, us % 1000, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) FROM clock)
        SELECT 'audt'
            || (SELECT string_agg(substr(letters, ((ms >> (5 * place)) & 31)::int + 1, 1), '' ORDER BY place DESC)
                  FROM generate_series(0, 9) AS place)
            || substr(letters, (us / 32)::int + 1, 1) || substr(letters, (us % 32)::int + 1, 1)
            -- Bytes 9 to 15 of a random UUID are purely random.
            || (SELECT string_agg(substr(letters, (get_byte(noise, place) & 31) + 1, 1), '')
                  FROM unnest(ARRAY[0,1,2,3,4,5,9,10,11,12,13,14,15,16]) AS place)
          FROM alphabet, made
      $$;

      -- Times and order come from the database's clock. Actors and subjects are plain ids without foreign keys: the audit log outlives
      -- the rows it describes.
      CREATE TABLE audit_events (
        id text PRIMARY KEY DEFAULT new_audit_event_id() CHECK (id ~ '^audt[0-9A-HJKMNP-TV-Z]{26}$'),
        occurred_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        actor_type text NOT NULL CHECK (actor_type IN ('user', 'client', 'service')),
        actor_id text,
        action text NOT NULL,
        subject_type text NOT NULL,
        subject_id text NOT NULL,
        before jsonb,
        after jsonb,
        address text,
        request_id text
      );
      CREATE INDEX audit_events_occurred_at_idx ON audit_events (occurred_at);
      CREATE INDEX audit_events_actor_idx ON audit_events (actor_id, id);
      CREATE INDEX audit_events_subject_idx ON audit_events (subject_id, id);
      CREATE INDEX audit_events_action_idx ON audit_events (action, id);
      CREATE INDEX audit_events_request_id_idx ON audit_events (request_id, id) WHERE request_id IS NOT NULL;

      -- Entries do not change: they are removed only by age, and of an erased user only the id remains.
      CREATE FUNCTION protect_audit_events() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'DELETE' AND OLD.occurred_at < now() - interval '365 days' THEN
            RETURN OLD;
          END IF;
          IF TG_OP = 'UPDATE'
             AND (NEW.id, NEW.occurred_at, NEW.actor_type, NEW.action, NEW.subject_type, NEW.subject_id)
               = (OLD.id, OLD.occurred_at, OLD.actor_type, OLD.action, OLD.subject_type, OLD.subject_id)
             AND NEW.actor_id IS NOT DISTINCT FROM OLD.actor_id AND NEW.request_id IS NOT DISTINCT FROM OLD.request_id
             AND (NEW.before IS NULL OR NEW.before = OLD.before) AND (NEW.after IS NULL OR NEW.after = OLD.after)
             AND (NEW.address IS NULL OR NEW.address = OLD.address)
             AND EXISTS (SELECT 1 FROM unnest(ARRAY[OLD.subject_id, OLD.actor_id]) AS person (id)
                          WHERE person.id LIKE 'user%' AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = person.id))
          THEN
            RETURN NEW;
          END IF;
          RAISE EXCEPTION 'The audit log cannot be changed.' USING ERRCODE = 'insufficient_privilege';
        END
      $$;
      CREATE TRIGGER audit_events_stay BEFORE UPDATE OR DELETE ON audit_events
        FOR EACH ROW EXECUTE FUNCTION protect_audit_events();
      CREATE TRIGGER audit_events_stay_all BEFORE TRUNCATE ON audit_events
        FOR EACH STATEMENT EXECUTE FUNCTION protect_audit_events();

      -- The service needs no right to change the log: the two functions below have the rights of the schema's owner.

      -- Removes up to that many entries that are older than a year, starting at the given time.
      CREATE FUNCTION purge_audit_events(since timestamptz, size integer) RETURNS TABLE (count integer, last timestamptz)
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        WITH going AS (
          SELECT id, occurred_at FROM audit_events
           WHERE occurred_at < now() - interval '365 days' AND occurred_at >= since
           ORDER BY occurred_at LIMIT size FOR UPDATE SKIP LOCKED
        ), gone AS (
          DELETE FROM audit_events WHERE id = ANY (ARRAY(SELECT id FROM going)) RETURNING 1
        )
        SELECT (SELECT count(*) FROM gone)::integer, (SELECT max(occurred_at) FROM going)
      $$;

      -- Of an erased user the trail keeps only the id; the trigger refuses this for a user who was not erased.
      CREATE FUNCTION forget_in_audit_events(person text) RETURNS void
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        UPDATE audit_events
           SET before = CASE WHEN subject_id <> person THEN before END,
               after = CASE WHEN subject_id <> person THEN after END,
               address = CASE WHEN actor_id IS DISTINCT FROM person THEN address END
         WHERE subject_id = person OR actor_id = person
      $$;
      REVOKE ALL ON FUNCTION purge_audit_events, forget_in_audit_events FROM PUBLIC;

      -- Requests that wait for a second admin.
      CREATE TABLE approvals (
        id text PRIMARY KEY CHECK (id ~ '^appr[0-9A-HJKMNP-TV-Z]{26}$'),
        action text NOT NULL,
        subject_id text NOT NULL,
        -- What exactly was asked for.
        details jsonb,
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected', 'expired')),
        requested_by_type text NOT NULL CHECK (requested_by_type IN ('user', 'client')),
        requested_by_id text NOT NULL,
        -- The user, or the owner of the client: the same person cannot approve it, in whatever way.
        requested_by_person text NOT NULL,
        -- The admin who stands behind a client that asked.
        seconded_by text,
        seconded_at timestamptz,
        requested_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        decided_by_type text CHECK (decided_by_type IN ('user', 'client')),
        decided_by_id text,
        decided_at timestamptz,
        CHECK ((state IN ('approved', 'rejected')) =
               (decided_by_type IS NOT NULL AND decided_by_id IS NOT NULL AND decided_at IS NOT NULL))
      );
      -- Asking again for what is pending finds the same row.
      CREATE UNIQUE INDEX approvals_pending_key ON approvals (action, subject_id) WHERE state = 'pending';
      CREATE INDEX approvals_expires_at_idx ON approvals (expires_at);

      -- Counters, for each client and for all clients together.
      CREATE TABLE activity_hours (
        -- The id of an existing client, 'all' for the sum over all clients, or empty where no client is known.
        client_id text NOT NULL,
        hour timestamptz NOT NULL,
        kind text NOT NULL,
        detail text NOT NULL,
        count bigint NOT NULL,
        last_at timestamptz NOT NULL,
        last_address text,
        PRIMARY KEY (client_id, hour, kind, detail)
      ) WITH (fillfactor = 70);
      CREATE INDEX activity_hours_hour_idx ON activity_hours (hour);

      -- The migrations that a build must know to work with this schema. A migration that removes what older builds need adds itself here
      -- (support/required-migration.ts). Every build checks this table at its start and in its readiness.
      CREATE TABLE required_migrations (
        name text PRIMARY KEY,
        required_at timestamptz NOT NULL DEFAULT now()
      );

      -- How far the logs were sent by OTLP: one instance at a time sends, as long as its lease lasts.
      CREATE TABLE log_exports (
        log text PRIMARY KEY CHECK (log IN ('audit', 'refusals')),
        cursor text,
        server text,
        leased_by text,
        leased_until timestamptz
      );
      INSERT INTO log_exports (log) VALUES ('audit'), ('refusals');
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE log_exports, required_migrations, activity_hours, approvals, audit_events;
      DROP FUNCTION forget_in_audit_events, purge_audit_events, protect_audit_events, new_audit_event_id;
    `);
  }
}

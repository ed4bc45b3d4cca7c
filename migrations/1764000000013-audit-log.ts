import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit log, in a partition for each month. */
export class AuditLog1764000000013 implements MigrationInterface {
  name = 'AuditLog1764000000013';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- What every id of an entry made at this time or later is not less than: the time of a ULID, to the millisecond.
      CREATE FUNCTION first_audit_event_id(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
        SET search_path = pg_catalog, pg_temp AS $$
        SELECT 'audt' || string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> (5 * place)) & 31)::int + 1, 1), '' ORDER BY place DESC)
          FROM (SELECT floor(extract(epoch FROM at) * 1000)::bigint) clock (ms), generate_series(0, 9) AS place
      $$;

      -- The time of an id is followed by the microseconds within the millisecond, so that the entries of one transaction stay in order.
      CREATE FUNCTION new_audit_event_id() RETURNS text LANGUAGE sql VOLATILE PARALLEL SAFE
        SET search_path = pg_catalog, pg_temp AS $$
        WITH alphabet (letters) AS (SELECT '0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
             made (at, us, noise) AS MATERIALIZED (
               SELECT at, extract(microseconds FROM at)::int % 1000, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
                 FROM clock_timestamp() AS at)
        SELECT public.first_audit_event_id(at)
            || substr(letters, us / 32 + 1, 1) || substr(letters, us % 32 + 1, 1)
            -- Bytes 9 to 15 of a random UUID are purely random.
            || (SELECT string_agg(substr(letters, (get_byte(noise, place) & 31) + 1, 1), '')
                  FROM unnest(ARRAY[0,1,2,3,4,5,9,10,11,12,13,14,15,16]) AS place)
          FROM alphabet, made
      $$;

      -- Times and order come from the database's clock. Actors and subjects are plain ids without foreign keys: the audit log outlives
      -- the rows it describes.
      CREATE TABLE audit_events (
        id text COLLATE "C" PRIMARY KEY DEFAULT new_audit_event_id() CHECK (id ~ '^audt[0-9A-HJKMNP-TV-Z]{26}$'),
        occurred_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        actor_type text NOT NULL CHECK (actor_type IN ('user', 'client', 'service')),
        actor_id text,
        action text NOT NULL,
        subject_type text NOT NULL,
        subject_id text NOT NULL,
        before jsonb,
        after jsonb,
        address text,
        request_id text,
        -- The transaction: the log is followed in the order of commits, which is not that of ids.
        xid xid8 NOT NULL DEFAULT pg_current_xact_id()
      ) PARTITION BY RANGE (id);
      CREATE INDEX audit_events_actor_idx ON audit_events (actor_id, id);
      CREATE INDEX audit_events_subject_idx ON audit_events (subject_id, id);
      CREATE INDEX audit_events_action_idx ON audit_events (action, id);
      CREATE INDEX audit_events_request_id_idx ON audit_events (request_id, id) WHERE request_id IS NOT NULL;
      CREATE INDEX audit_events_xid_idx ON audit_events (xid, id);
      CREATE TABLE partitions.audit_events_other PARTITION OF audit_events DEFAULT;

      -- Entries do not change: they are removed only by age, and of an erased user only the id remains.
      CREATE FUNCTION protect_audit_events() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
        BEGIN
          IF TG_OP = 'DELETE' AND OLD.id < first_audit_event_id(now() - interval '365 days') THEN
            RETURN OLD;
          END IF;
          -- A restored entry may only move, and only from a place that no transaction has reached.
          IF TG_OP = 'UPDATE' AND OLD.xid >= pg_snapshot_xmax(pg_current_snapshot())
             AND NEW.xid = pg_current_xact_id() AND to_jsonb(NEW) - 'xid' = to_jsonb(OLD) - 'xid' THEN
            RETURN NEW;
          END IF;
          IF TG_OP = 'UPDATE'
             AND (NEW.id, NEW.occurred_at, NEW.actor_type, NEW.action, NEW.subject_type, NEW.subject_id)
               = (OLD.id, OLD.occurred_at, OLD.actor_type, OLD.action, OLD.subject_type, OLD.subject_id)
             AND NEW.xid = OLD.xid
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

      -- The service needs no right to change the log: the functions below have the rights of the schema's owner.

      -- Makes the partitions to come, and drops months whose last entry is older than a year.
      CREATE FUNCTION turn_audit_events(months_ahead integer) RETURNS bigint
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
          removed CONSTANT bigint := public.turn_partitions('audit_events', 'month', months_ahead, now() - interval '365 days', 'public.first_audit_event_id');
          part regclass;
        BEGIN
          -- Partitions have the triggers of their table for rows, but not those for statements.
          FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'public.audit_events'::regclass AND NOT EXISTS (
            SELECT FROM pg_trigger WHERE tgrelid = inhrelid AND tgname = 'audit_events_stay_all')
          LOOP
            EXECUTE format('CREATE TRIGGER audit_events_stay_all BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION public.protect_audit_events()', part);
          END LOOP;
          RETURN removed;
        END
      $$;

      -- Of an erased user the trail keeps only the id; the trigger refuses this for a user who was not erased. Addresses go, also those of
      -- visitors whom nobody knew, such as of refused logins to the account: it was the person, most of the time.
      CREATE FUNCTION forget_in_audit_events(person text) RETURNS void
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        UPDATE audit_events
           SET before = CASE WHEN subject_id <> person THEN before END,
               after = CASE WHEN subject_id <> person THEN after END,
               address = CASE WHEN actor_id <> person THEN address END
         WHERE subject_id = person OR actor_id = person
      $$;

      -- Entries restored from a dump of a database whose transaction ids were higher: they get the id of this transaction, so that
      -- they come before what is still to come.
      CREATE FUNCTION adopt_restored_audit_events() RETURNS void
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        UPDATE audit_events SET xid = pg_current_xact_id() WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())
      $$;
      REVOKE ALL ON FUNCTION turn_audit_events, forget_in_audit_events, adopt_restored_audit_events FROM PUBLIC;
      SELECT turn_audit_events(2);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION adopt_restored_audit_events, forget_in_audit_events, turn_audit_events;
      DROP TABLE audit_events;
      DROP FUNCTION protect_audit_events, new_audit_event_id, first_audit_event_id;
    `);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the console needs: counters of activity by hour, for each client and for all clients together; and an audit log that the
 * application itself cannot change.
 */
export class Activity1763660000000 implements MigrationInterface {
  name = 'Activity1763660000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
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

      -- Operators search for parts of names and addresses; the next migration creates the indexes.
      CREATE EXTENSION IF NOT EXISTS pg_trgm;

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
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER audit_events_stay_all ON audit_events;
      DROP TRIGGER audit_events_stay ON audit_events;
      DROP FUNCTION protect_audit_events;
      DROP EXTENSION pg_trgm;
      DROP TABLE activity_hours;
    `);
  }
}

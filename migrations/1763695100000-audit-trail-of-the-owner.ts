import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The times and the order of the audit log come from the database's clock. The service needs no right to change it:
 * functions with the rights of the schema's owner remove old entries and the data of erased users. An id is a ULID whose time is
 * followed by the microseconds within the millisecond, so that the entries of one transaction stay in order.
 */
export class AuditTrailOfTheOwner1763695100000 implements MigrationInterface {
  name = 'AuditTrailOfTheOwner1763695100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
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
      ALTER TABLE audit_events
        ALTER COLUMN id SET DEFAULT new_audit_event_id(),
        ALTER COLUMN occurred_at SET DEFAULT clock_timestamp();

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
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE audit_events ALTER COLUMN id DROP DEFAULT, ALTER COLUMN occurred_at SET DEFAULT now();
      DROP FUNCTION forget_in_audit_events;
      DROP FUNCTION purge_audit_events;
      DROP FUNCTION new_audit_event_id;
    `);
  }
}

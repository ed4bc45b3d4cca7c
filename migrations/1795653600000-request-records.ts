import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What operators look up by the id of a request, in a partition for each day (docs/decisions/0034-partitions-by-time.md). Partitions have a schema of their
 * own, to which the service has no right: it reaches them by the table alone.
 */
export class RequestRecords1795653600000 implements MigrationInterface {
  name = 'RequestRecords1795653600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE request_records (
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        occurred_at timestamptz NOT NULL,
        request_id text NOT NULL,
        method text NOT NULL,
        route text NOT NULL,
        status integer NOT NULL,
        error text,
        refused_kind text,
        refused text,
        client_id text,
        milliseconds integer NOT NULL,
        injected boolean NOT NULL,
        -- The transaction, in whose order refusals are followed.
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        PRIMARY KEY (occurred_at, id)
      ) PARTITION BY RANGE (occurred_at);
      CREATE INDEX request_records_request_id_idx ON request_records (request_id);
      CREATE INDEX request_records_refused_idx ON request_records (xid, id) WHERE status >= 400;

      CREATE SCHEMA partitions;
      -- What belongs to no day that there is: after a pause of weeks, or by an instance whose clock is wrong.
      CREATE TABLE partitions.request_records_other PARTITION OF request_records DEFAULT;

      -- Makes the partitions of today and the days ahead, and drops those whose last moment is older than the days kept. Returns about
      -- how many records went. The service may not change the schema, so this has the rights of its owner. Any number of instances
      -- call it every minute; one works, in one transaction.
      CREATE FUNCTION turn_request_records(days_kept integer, days_ahead integer) RETURNS bigint
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
          today CONSTANT timestamp := date_trunc('day', now() AT TIME ZONE 'UTC');
          oldest CONSTANT timestamptz := now() - make_interval(days => days_kept);
          due timestamp[];
          over text[];
          day timestamp;
          name text;
          removed bigint;
          gone bigint;
        BEGIN
          IF NOT pg_try_advisory_xact_lock(hashtextextended('turn_request_records', 0)) THEN
            RETURN 0;
          END IF;
          SELECT array_agg(d) INTO due FROM generate_series(today, today + make_interval(days => days_ahead), '1 day') AS d
           WHERE to_regclass('partitions.request_records_' || to_char(d, 'YYYY_MM_DD')) IS NULL;
          SELECT array_agg(c.relname), sum(greatest(c.reltuples, 0)) INTO over, removed
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
           WHERE i.inhparent = 'public.request_records'::regclass AND c.relname ~ '^request_records_[0-9_]{10}$'
             AND (to_date(right(c.relname, 10), 'YYYY_MM_DD') + 1)::timestamp AT TIME ZONE 'UTC' <= oldest;
          IF due IS NOT NULL OR over IS NOT NULL THEN
            -- A record is either there before, and moved, or finds the new partition.
            LOCK TABLE public.request_records IN ACCESS EXCLUSIVE MODE;
          END IF;
          FOREACH day IN ARRAY coalesce(due, '{}') LOOP
            name := 'request_records_' || to_char(day, 'YYYY_MM_DD');
            EXECUTE format('CREATE TABLE partitions.%I (LIKE public.request_records INCLUDING CONSTRAINTS)', name);
            EXECUTE format(
              'WITH moved AS (DELETE FROM partitions.request_records_other
                               WHERE occurred_at >= %2$L AND occurred_at < %3$L RETURNING *)
               INSERT INTO partitions.%1$I SELECT * FROM moved',
              name, day AT TIME ZONE 'UTC', (day + interval '1 day') AT TIME ZONE 'UTC');
            EXECUTE format('ALTER TABLE public.request_records ATTACH PARTITION partitions.%I FOR VALUES FROM (%L) TO (%L)',
              name, day AT TIME ZONE 'UTC', (day + interval '1 day') AT TIME ZONE 'UTC');
          END LOOP;
          FOREACH name IN ARRAY coalesce(over, '{}') LOOP
            EXECUTE format('DROP TABLE partitions.%I', name);
          END LOOP;
          DELETE FROM partitions.request_records_other WHERE occurred_at < oldest;
          GET DIAGNOSTICS gone = ROW_COUNT;
          RETURN coalesce(removed, 0) + gone;
        END
      $$;
      REVOKE ALL ON FUNCTION turn_request_records FROM PUBLIC;
      SELECT turn_request_records(7, 2);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION turn_request_records;
      DROP TABLE request_records;
      DROP SCHEMA partitions;
    `);
  }
}

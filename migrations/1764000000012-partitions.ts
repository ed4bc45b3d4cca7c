import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Partitions by time (docs/decisions/0034-partitions-by-time.md). They have a schema of their own, to which the service has no right:
 * it reaches them by their table alone.
 */
export class Partitions1764000000012 implements MigrationInterface {
  name = 'Partitions1764000000012';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE SCHEMA partitions;

      -- Makes the partitions of a table for this day or month (unit) and those ahead, and drops those whose last moment was before oldest.
      -- Returns about how many rows went. bound is the function that makes a value of the column of a time. What belongs to no
      -- partition is in ..._other: after a pause of weeks, or by an instance whose clock is wrong. Any number of instances call this every
      -- minute; one works, in one transaction. It has the rights of who calls it: each table has a function of its own for the service.
      CREATE FUNCTION turn_partitions(parent text, unit text, ahead integer, oldest timestamptz, bound text) RETURNS bigint
        LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '500ms' AS $$
        DECLARE
          now_at CONSTANT timestamp := date_trunc(unit, now() AT TIME ZONE 'UTC');
          step CONSTANT interval := ('1 ' || unit)::interval;
          other CONSTANT text := parent || '_other';
          by_column text;
          due timestamp[];
          over text[];
          begins timestamp;
          name text;
          first text;
          next text;
          removed bigint;
          gone bigint;
        BEGIN
          IF NOT pg_try_advisory_xact_lock(hashtextextended('turn_partitions ' || parent, 0)) THEN
            RETURN 0;
          END IF;
          SELECT attname INTO STRICT by_column FROM pg_partitioned_table p JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
           WHERE p.partrelid = ('public.' || parent)::regclass;
          SELECT array_agg(b) INTO due FROM generate_series(now_at, now_at + ahead * step, step) AS b
           WHERE to_regclass('partitions.' || parent || to_char(b, '_YYYY_MM_DD')) IS NULL;
          SELECT array_agg(c.relname), sum(greatest(c.reltuples, 0)) INTO over, removed
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
           WHERE i.inhparent = ('public.' || parent)::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}_[0-9]{2}$'
             AND (to_date(right(c.relname, 10), 'YYYY_MM_DD') + step) AT TIME ZONE 'UTC' <= oldest;
          IF due IS NOT NULL OR over IS NOT NULL THEN
            -- A row is either there before, and moved, or finds the new partition. Who writes waits for no longer than this waits for locks.
            EXECUTE format('LOCK TABLE public.%I IN ACCESS EXCLUSIVE MODE', parent);
          END IF;
          FOREACH begins IN ARRAY coalesce(due, '{}') LOOP
            name := parent || to_char(begins, '_YYYY_MM_DD');
            EXECUTE format('SELECT %1$s($1)::text, %1$s($2)::text', bound) INTO first, next
              USING begins AT TIME ZONE 'UTC', (begins + step) AT TIME ZONE 'UTC';
            EXECUTE format('CREATE TABLE partitions.%I (LIKE public.%I INCLUDING CONSTRAINTS)', name, parent);
            -- Triggers that protect rows are not for rows that only move.
            EXECUTE format('ALTER TABLE partitions.%I DISABLE TRIGGER USER', other);
            EXECUTE format(
              'WITH moved AS (DELETE FROM partitions.%I WHERE %2$I >= %3$L AND %2$I < %4$L RETURNING *) INSERT INTO partitions.%5$I SELECT * FROM moved',
              other, by_column, first, next, name);
            EXECUTE format('ALTER TABLE partitions.%I ENABLE TRIGGER USER', other);
            EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION partitions.%I FOR VALUES FROM (%L) TO (%L)', parent, name, first, next);
          END LOOP;
          FOREACH name IN ARRAY coalesce(over, '{}') LOOP
            EXECUTE format('DROP TABLE partitions.%I', name);
          END LOOP;
          EXECUTE format('DELETE FROM partitions.%I WHERE %I < %s($1)', other, by_column, bound) USING oldest;
          GET DIAGNOSTICS gone = ROW_COUNT;
          RETURN coalesce(removed, 0) + gone;
        END
      $$;
      REVOKE ALL ON FUNCTION turn_partitions FROM PUBLIC;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION turn_partitions;
      DROP SCHEMA partitions;
    `);
  }
}

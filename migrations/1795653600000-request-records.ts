import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators look up by the id of a request, in a partition for each day. */
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

      CREATE TABLE partitions.request_records_other PARTITION OF request_records DEFAULT;

      -- The service may not change the schema, so this has the rights of its owner.
      CREATE FUNCTION turn_request_records(days_kept integer, days_ahead integer) RETURNS bigint
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        SELECT public.turn_partitions('request_records', 'day', days_ahead, now() - make_interval(days => days_kept), 'timestamptz')
      $$;
      REVOKE ALL ON FUNCTION turn_request_records FROM PUBLIC;
      SELECT turn_request_records(7, 2);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION turn_request_records;
      DROP TABLE request_records;
    `);
  }
}

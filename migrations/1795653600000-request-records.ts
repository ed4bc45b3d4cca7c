import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators look up by the id of a request. */
export class RequestRecords1795653600000 implements MigrationInterface {
  name = 'RequestRecords1795653600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE request_records (
        id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
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
        injected boolean NOT NULL
      );
      CREATE INDEX request_records_request_id_idx ON request_records (request_id);
      CREATE INDEX request_records_occurred_at_idx ON request_records (occurred_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE request_records');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an event must have to be sent to an endpoint: as it is shown, and as PostgreSQL judges by it when an event is published. */
export class Filters1796310000000 implements MigrationInterface {
  name = 'Filters1796310000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_endpoints
        -- As it was written, because people read it.
        ADD COLUMN filters json NOT NULL DEFAULT '[]' CHECK (json_array_length(filters) <= 20),
        -- Null: every event of the types.
        ADD COLUMN filter jsonpath,
        ADD CONSTRAINT webhook_endpoints_filter_check CHECK ((json_array_length(filters) = 0) = (filter IS NULL))
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_endpoints DROP COLUMN filters, DROP COLUMN filter');
  }
}

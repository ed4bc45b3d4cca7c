import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Endpoints with a limit of attempts and headers of their own; the times when they were disabled, so that what was missed can be
 * sent; attempts with what was sent and answered. Every step may run again.
 */
export class EndpointOptions1763800400000 implements MigrationInterface {
  name = 'EndpointOptions1763800400000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_endpoints
        ADD COLUMN IF NOT EXISTS max_per_minute integer,
        ADD COLUMN IF NOT EXISTS header_names text[] NOT NULL DEFAULT '{}',
        -- The values of the headers by name, sealed.
        ADD COLUMN IF NOT EXISTS sealed_headers bytea,
        DROP CONSTRAINT IF EXISTS webhook_endpoints_max_per_minute_check,
        ADD CONSTRAINT webhook_endpoints_max_per_minute_check CHECK (max_per_minute BETWEEN 1 AND 6000) NOT VALID,
        DROP CONSTRAINT IF EXISTS webhook_endpoints_headers_check,
        ADD CONSTRAINT webhook_endpoints_headers_check
          CHECK ((sealed_headers IS NULL) = (cardinality(header_names) = 0)) NOT VALID
    `);
    await queryRunner.query(
      'ALTER TABLE webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_max_per_minute_check',
    );
    await queryRunner.query(
      'ALTER TABLE webhook_endpoints VALIDATE CONSTRAINT webhook_endpoints_headers_check',
    );
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS webhook_throttles (
        endpoint_id text PRIMARY KEY REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        -- Until when no attempt may start.
        blocked_until timestamptz NOT NULL DEFAULT '-infinity',
        -- How many attempts started in each second of the last minute.
        start_seconds timestamptz[] NOT NULL DEFAULT '{}',
        start_counts integer[] NOT NULL DEFAULT '{}'
      ) WITH (fillfactor = 70)
    `);
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS webhook_pauses (
        endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        disabled_at timestamptz NOT NULL,
        enabled_at timestamptz NOT NULL,
        -- When what was missed in this time was sent.
        sent_at timestamptz,
        PRIMARY KEY (endpoint_id, disabled_at)
      )
    `);
    await queryRunner.query(
      'CREATE INDEX IF NOT EXISTS webhook_pauses_enabled_at_idx ON webhook_pauses (enabled_at)',
    );
    await queryRunner.query(`
      ALTER TABLE webhook_recoveries
        ADD COLUMN IF NOT EXISTS kind text NOT NULL DEFAULT 'failed',
        ALTER COLUMN endpoint_id DROP NOT NULL
    `);
    await queryRunner.query(`
      ALTER TABLE delivery_attempts
        ADD COLUMN IF NOT EXISTS url text,
        -- The names of the headers of the endpoint's own.
        ADD COLUMN IF NOT EXISTS own_headers text[],
        ADD COLUMN IF NOT EXISTS response_headers jsonb
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE delivery_attempts DROP COLUMN url, DROP COLUMN own_headers, DROP COLUMN response_headers;
      DELETE FROM webhook_recoveries WHERE endpoint_id IS NULL;
      ALTER TABLE webhook_recoveries DROP COLUMN kind, ALTER COLUMN endpoint_id SET NOT NULL;
      DROP TABLE webhook_pauses, webhook_throttles;
      ALTER TABLE webhook_endpoints
        DROP COLUMN max_per_minute, DROP COLUMN header_names, DROP COLUMN sealed_headers;
    `);
  }
}

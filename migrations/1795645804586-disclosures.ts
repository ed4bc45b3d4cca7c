import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was read of a user's data, in sums by application, day and scope (contract §26): the user sees them, and they are kept for
 * 13 months.
 */
export class Disclosures1795645804586 implements MigrationInterface {
  name = 'Disclosures1795645804586';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Only the rows of the present day are updated, so little space is left beside each.
      CREATE TABLE disclosure_days (
        user_id text NOT NULL,
        client_id text NOT NULL,
        -- In UTC.
        day date NOT NULL,
        -- The name of a scope, or 'account data', which no scope is called.
        scope text NOT NULL CHECK (length(scope) BETWEEN 1 AND 64),
        requests bigint NOT NULL DEFAULT 0 CHECK (requests >= 0),
        deliveries bigint NOT NULL DEFAULT 0 CHECK (deliveries >= 0),
        PRIMARY KEY (user_id, client_id, day, scope),
        -- A consent stays as long as its user and its client exist, also after it has ended.
        CONSTRAINT disclosure_days_consent_fkey
          FOREIGN KEY (client_id, user_id) REFERENCES consents (client_id, user_id) ON DELETE CASCADE
      ) WITH (fillfactor = 90);
      CREATE INDEX disclosure_days_day_idx ON disclosure_days (day);

      -- Reports that were counted, so that none counts twice.
      CREATE TABLE disclosure_batches (
        -- The client that reported; empty for what this service served itself.
        reporter_id text NOT NULL,
        batch_id text NOT NULL CHECK (length(batch_id) BETWEEN 1 AND 64),
        body_digest bytea NOT NULL CHECK (octet_length(body_digest) = 32),
        -- How many of its parts were counted.
        counted integer NOT NULL,
        received_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (reporter_id, batch_id)
      );
      CREATE INDEX disclosure_batches_received_at_idx ON disclosure_batches (received_at);

      -- Up to which event the deliveries are in the sums. Those of later events are counted where they are read.
      CREATE TABLE disclosure_roll_up (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        up_to timestamptz NOT NULL
      );
      INSERT INTO disclosure_roll_up (up_to) VALUES ('-infinity');
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE disclosure_roll_up, disclosure_batches, disclosure_days');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators work with: approvals, and activity by hour. And which migrations a build must know. */
export class Operations1764000000011 implements MigrationInterface {
  name = 'Operations1764000000011';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Requests that wait for a second admin.
      CREATE TABLE approvals (
        id text PRIMARY KEY CHECK (id ~ '^appr[0-9A-HJKMNP-TV-Z]{26}$'),
        action text NOT NULL,
        subject_id text NOT NULL,
        -- What exactly was asked for.
        details jsonb,
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected', 'expired')),
        requested_by_type text NOT NULL CHECK (requested_by_type IN ('user', 'client')),
        requested_by_id text NOT NULL,
        -- The user, or the owner of the client: the same person cannot approve it, in whatever way.
        requested_by_person text NOT NULL,
        -- The admin who stands behind a client that asked.
        seconded_by text,
        seconded_at timestamptz,
        requested_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        decided_by_type text CHECK (decided_by_type IN ('user', 'client')),
        decided_by_id text,
        decided_at timestamptz,
        CHECK ((state IN ('approved', 'rejected')) =
               (decided_by_type IS NOT NULL AND decided_by_id IS NOT NULL AND decided_at IS NOT NULL))
      );
      -- Asking again for what is pending finds the same row.
      CREATE UNIQUE INDEX approvals_pending_key ON approvals (action, subject_id) WHERE state = 'pending';
      CREATE INDEX approvals_expires_at_idx ON approvals (expires_at);

      -- Counters, for each client and for all clients together.
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
      -- The addresses of a person who is erased.
      CREATE INDEX activity_hours_last_address_idx ON activity_hours (last_address) WHERE last_address IS NOT NULL;

      -- The migrations that a build must know to work with this schema. A migration that removes what older builds need adds itself here
      -- (support/required-migration.ts). Every build checks this table at its start and in its readiness.
      CREATE TABLE required_migrations (
        name text PRIMARY KEY,
        required_at timestamptz NOT NULL DEFAULT now()
      );

      -- How far the logs were sent by OTLP: one instance at a time sends, as long as its lease lasts.
      CREATE TABLE log_exports (
        log text PRIMARY KEY CHECK (log IN ('audit', 'refusals')),
        cursor text,
        server text,
        leased_by text,
        leased_until timestamptz
      );
      INSERT INTO log_exports (log) VALUES ('audit'), ('refusals');
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE log_exports, required_migrations, activity_hours, approvals');
  }
}

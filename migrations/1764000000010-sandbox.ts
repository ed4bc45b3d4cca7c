import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a sandbox has besides its drivers (contract §19): their seeds, the events that are planned for them, and faults. */
export class Sandbox1764000000010 implements MigrationInterface {
  name = 'Sandbox1764000000010';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE sandbox_drivers (
        user_id text PRIMARY KEY,
        -- The owner whose sandbox it is: the realm of the user.
        owner_id text NOT NULL,
        seed integer NOT NULL CHECK (seed >= 1),
        -- How many sessions were planned: the next one's numbers follow from the seed and this.
        sessions integer NOT NULL DEFAULT 0,
        FOREIGN KEY (user_id, owner_id) REFERENCES users (id, realm) ON DELETE CASCADE
      );
      CREATE INDEX sandbox_drivers_owner_id_idx ON sandbox_drivers (owner_id, user_id);

      -- An event that waits to be published. Its row is deleted in the transaction that publishes it.
      CREATE TABLE sandbox_planned_events (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        user_id text NOT NULL REFERENCES sandbox_drivers (user_id) ON DELETE CASCADE,
        owner_id text NOT NULL,
        due_at timestamptz NOT NULL,
        -- The time that the event bears.
        occurred_at timestamptz NOT NULL,
        type text NOT NULL,
        data jsonb NOT NULL,
        -- The last event of a session that runs.
        ends_session boolean NOT NULL DEFAULT false
      );
      CREATE INDEX sandbox_planned_events_due_idx ON sandbox_planned_events (due_at);
      CREATE INDEX sandbox_planned_events_user_idx ON sandbox_planned_events (user_id, due_at, id);
      CREATE INDEX sandbox_planned_events_owner_idx ON sandbox_planned_events (owner_id);
      -- At most one session of a driver runs.
      CREATE UNIQUE INDEX sandbox_planned_events_running_key ON sandbox_planned_events (user_id) WHERE ends_session;

      CREATE TABLE sandbox_faults (
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        -- What fails: the next refresh, or the next requests to bearer endpoints for partners.
        target text NOT NULL CHECK (target IN ('refresh', 'requests')),
        kind text NOT NULL CHECK (CASE target WHEN 'refresh' THEN kind = 'refresh' ELSE kind IN ('401', '429', '503') END),
        -- At 0 it is used up; what is left of the row is purged.
        remaining integer NOT NULL CHECK (remaining BETWEEN 0 AND 100),
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (client_id, target)
      );
      CREATE INDEX sandbox_faults_expires_at_idx ON sandbox_faults (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE sandbox_faults, sandbox_planned_events, sandbox_drivers;
    `);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';
import { EVENT_RESOURCES, EVENT_SCHEMAS } from './event-schemas.js';
import { backfillInBatches } from './support/backfill.js';
import { createIndexConcurrently } from './support/concurrent-index.js';

/**
 * Events as a contract (contract §21): versions of event types with their schemas, numbers of the events about one thing, and
 * what the feed of events needs: the transaction of each event, the client it is addressed to, and since when a user has shared
 * each scope.
 */
export class EventSchemas1763800300000 implements MigrationInterface {
  name = 'EventSchemas1763800300000';
  /** Events are published meanwhile; every step may run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE event_types
        -- A JSON Pointer into the data, to the id of what the event is about.
        ADD COLUMN IF NOT EXISTS resource text CHECK (length(resource) BETWEEN 1 AND 200),
        -- Counts the changes of the type and its versions: an instance that has read another one reads again.
        ADD COLUMN IF NOT EXISTS revision integer NOT NULL DEFAULT 1;
    `);
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS event_type_versions (
        type text NOT NULL REFERENCES event_types (name) ON DELETE CASCADE,
        version integer NOT NULL CHECK (version >= 1),
        -- As it was written, because people read it.
        schema json NOT NULL,
        draft boolean NOT NULL DEFAULT false,
        -- The revision of the type at which the schema last changed.
        revision integer NOT NULL DEFAULT 1,
        -- When the first event was published with it: from then on it does not change.
        used_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (type, version),
        CHECK (NOT draft OR used_at IS NULL)
      );
    `);
    await queryRunner.query(`
      -- The number of the last event about each thing of a user.
      CREATE TABLE IF NOT EXISTS event_sequences (
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        -- The part of the type before the dot.
        family text NOT NULL,
        resource_id text NOT NULL CHECK (length(resource_id) BETWEEN 1 AND 255),
        last bigint NOT NULL,
        -- The day of the last event, so that most updates change no indexed column.
        seen_on date NOT NULL DEFAULT current_date,
        PRIMARY KEY (user_id, family, resource_id)
      ) WITH (fillfactor = 70);
      CREATE INDEX IF NOT EXISTS event_sequences_seen_on_idx ON event_sequences (seen_on);
    `);
    await queryRunner.query(`
      ALTER TABLE events
        ADD COLUMN IF NOT EXISTS version integer NOT NULL DEFAULT 1,
        -- Of an event that is for one client only: that client.
        ADD COLUMN IF NOT EXISTS client_id text,
        -- Events from before come first.
        ADD COLUMN IF NOT EXISTS xid xid8 NOT NULL DEFAULT '0';
      ALTER TABLE events ALTER COLUMN xid SET DEFAULT pg_current_xact_id();
    `);
    await createIndexConcurrently(queryRunner, {
      name: 'events_feed_idx',
      on: 'events (xid, id) WHERE NOT test',
    });
    await backfillInBatches(queryRunner, {
      table: 'events',
      key: 'id',
      set: "client_id = payload::jsonb #>> '{data,client_id}'",
      where: `type IN ('user.consent_granted', 'user.consent_revoked') AND client_id IS NULL AND payload IS NOT NULL
              AND payload::jsonb #>> '{data,client_id}' IS NOT NULL`,
    });
    await this.rememberWhenScopesWereGiven(queryRunner);
    await this.describeFirstTypes(queryRunner);
  }

  /** Whoever writes consents: each scope has the time at which it was given, and keeps it while the consent lasts. */
  private async rememberWhenScopesWereGiven(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- In the order of the scopes; null for a scope that was given before this was recorded: then it is granted_at.
      ALTER TABLE consents ADD COLUMN IF NOT EXISTS scopes_granted_at timestamptz[];
    `);
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION note_when_scopes_were_given() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.scopes_granted_at := ARRAY(
            SELECT CASE WHEN TG_OP = 'INSERT' OR OLD.revoked_at IS NOT NULL THEN NEW.granted_at
                        WHEN OLD.scopes @> ARRAY[s.name] THEN OLD.scopes_granted_at[array_position(OLD.scopes, s.name)]
                        ELSE now() END
              FROM unnest(NEW.scopes) WITH ORDINALITY AS s (name, place) ORDER BY s.place);
          RETURN NEW;
        END
      $$;
      DROP TRIGGER IF EXISTS consents_note_when_scopes_were_given ON consents;
      CREATE TRIGGER consents_note_when_scopes_were_given BEFORE INSERT OR UPDATE OF scopes ON consents
        FOR EACH ROW EXECUTE FUNCTION note_when_scopes_were_given();
    `);
  }

  private async describeFirstTypes(queryRunner: QueryRunner): Promise<void> {
    for (const [name, schema] of Object.entries(EVENT_SCHEMAS)) {
      await queryRunner.query(
        `INSERT INTO event_type_versions (type, version, schema)
         SELECT $1, 1, $2 WHERE EXISTS (SELECT 1 FROM event_types WHERE name = $1) ON CONFLICT DO NOTHING`,
        [name, JSON.stringify(schema)],
      );
      await queryRunner.query('UPDATE event_types SET resource = $2 WHERE name = $1 AND resource IS NULL', [
        name,
        EVENT_RESOURCES[name] ?? null,
      ]);
    }
    // Types that were added by hand, about whose data nothing is known.
    await queryRunner.query(`
      INSERT INTO event_type_versions (type, version, schema)
      SELECT name, 1, '{"type": "object"}' FROM event_types ON CONFLICT DO NOTHING;
      UPDATE event_type_versions v SET used_at = now()
       WHERE used_at IS NULL AND EXISTS (SELECT 1 FROM events WHERE type = v.type);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER consents_note_when_scopes_were_given ON consents;
      DROP FUNCTION note_when_scopes_were_given;
      ALTER TABLE consents DROP COLUMN scopes_granted_at;
      DROP INDEX events_feed_idx;
      ALTER TABLE events DROP COLUMN version, DROP COLUMN client_id, DROP COLUMN xid;
      DROP TABLE event_sequences, event_type_versions;
      ALTER TABLE event_types DROP COLUMN resource, DROP COLUMN revision;
    `);
  }
}

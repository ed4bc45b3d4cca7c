import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Notifications (source specification §2.4), and for each pair of client and user the period of an exceeded rate limit. One guarded
 * write to the row of that period decides which of many refusals creates the notification.
 */
export class Notifications1764000000006 implements MigrationInterface {
  name = 'Notifications1764000000006';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE notifications (
        id text PRIMARY KEY CHECK (id ~ '^notf[0-9A-HJKMNP-TV-Z]{26}$'),
        user_id text NOT NULL CONSTRAINT notifications_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
        -- The client that the notification concerns and whose tokens may read it; null where only the user's own page shows it.
        client_id text CONSTRAINT notifications_client_id_fkey REFERENCES clients (id) ON DELETE CASCADE,
        message_id text NOT NULL CHECK (message_id ~ '^ERR[0-9]{1,10}$'),
        category text NOT NULL CHECK (category IN ('ACTIONABLE', 'SERVICE', 'RETRY', 'MARKETING', 'INTERNAL')),
        event_time timestamptz NOT NULL DEFAULT now(),
        short_text_title text NOT NULL CHECK (length(short_text_title) BETWEEN 1 AND 200),
        short_text_body text NOT NULL CHECK (length(short_text_body) BETWEEN 1 AND 1000),
        detail_page_title text CHECK (length(detail_page_title) <= 200),
        detail_page_body text CHECK (length(detail_page_body) <= 10000),
        external_link text CHECK (length(external_link) <= 2000),
        external_button_label text CHECK (length(external_button_label) <= 100),
        read_at timestamptz,
        resolved_at timestamptz,
        -- When the service resolves it automatically.
        resolve_at timestamptz
      );
      CREATE INDEX notifications_user_id_idx ON notifications (user_id, id);
      CREATE INDEX notifications_client_id_idx ON notifications (client_id, user_id, id);
      CREATE INDEX notifications_client_idx ON notifications (client_id, id) WHERE client_id IS NOT NULL;
      CREATE INDEX notifications_resolve_at_idx ON notifications (resolve_at)
        WHERE resolve_at IS NOT NULL AND resolved_at IS NULL;
      -- For the purge (src/notifications/notifications-purge.ts).
      CREATE INDEX notifications_resolved_at_idx ON notifications (resolved_at) WHERE resolved_at IS NOT NULL;
      CREATE INDEX notifications_read_at_idx ON notifications (read_at)
        WHERE read_at IS NOT NULL AND resolved_at IS NULL AND category <> 'ACTIONABLE';
      CREATE INDEX notifications_unread_idx ON notifications (event_time)
        WHERE read_at IS NULL AND resolved_at IS NULL AND category <> 'ACTIONABLE';

      -- Instances cache the notification that the refusals of a rate limit show, for as long as its period lasts. When one is marked
      -- on any instance, or ends, the commit announces it: with the ids, or '*' for more than a hundred.
      CREATE FUNCTION announce_notification_changes() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
          ids text[] := ARRAY(SELECT id FROM changed LIMIT 101);
        BEGIN
          IF cardinality(ids) > 0 THEN
            PERFORM pg_notify('notification_changes',
                              CASE WHEN cardinality(ids) > 100 THEN '*' ELSE array_to_string(ids, ' ') END);
          END IF;
          RETURN NULL;
        END
      $$;
      CREATE TRIGGER notifications_announce_update AFTER UPDATE ON notifications REFERENCING OLD TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION announce_notification_changes();
      CREATE TRIGGER notifications_announce_delete AFTER DELETE ON notifications REFERENCING OLD TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION announce_notification_changes();

      CREATE TABLE rate_limit_periods (
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        notification_id text NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
        ends_at timestamptz NOT NULL,
        PRIMARY KEY (client_id, user_id)
      );
      CREATE INDEX rate_limit_periods_user_id_idx ON rate_limit_periods (user_id);
      CREATE INDEX rate_limit_periods_notification_id_idx ON rate_limit_periods (notification_id);
      CREATE INDEX rate_limit_periods_ends_at_idx ON rate_limit_periods (ends_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE rate_limit_periods, notifications;
      DROP FUNCTION announce_notification_changes;
    `);
  }
}

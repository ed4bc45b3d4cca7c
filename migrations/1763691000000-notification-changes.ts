import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Instances cache the notification that the refusals of a rate limit show, for as long as its period lasts. When a notification
 * is marked on any instance, or ends, the commit announces it: with the ids, or `*` for more than a hundred.
 */
export class NotificationChanges1763691000000 implements MigrationInterface {
  name = 'NotificationChanges1763691000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
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
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER notifications_announce_update ON notifications;
      DROP TRIGGER notifications_announce_delete ON notifications;
      DROP FUNCTION announce_notification_changes();
    `);
  }
}

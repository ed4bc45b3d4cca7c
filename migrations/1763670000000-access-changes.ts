import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Every commit that takes access away or changes it is announced to all instances, however the change was made: with the ids of
 * what changed, or `*` for more than a hundred. Issuing tokens and purging expired ones announces nothing.
 */
export class AccessChanges1763670000000 implements MigrationInterface {
  name = 'AccessChanges1763670000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION announce_access_changes() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
          ids text[];
        BEGIN
          IF TG_OP = 'TRUNCATE' THEN
            ids := ARRAY['*'];
          ELSIF TG_TABLE_NAME = 'access_tokens' THEN
            ids := ARRAY(SELECT encode(digest, 'base64') FROM changed
                          WHERE revoked_at IS NULL AND expires_at > now() LIMIT 101);
          ELSIF TG_TABLE_NAME = 'grants' THEN
            ids := ARRAY(SELECT id FROM changed WHERE revoked_at IS NULL AND expires_at > now() LIMIT 101);
          ELSIF TG_TABLE_NAME = 'consents' THEN
            ids := ARRAY(SELECT user_id FROM changed WHERE revoked_at IS NULL LIMIT 101);
          ELSIF TG_TABLE_NAME = 'client_secrets' THEN
            ids := ARRAY(SELECT client_id FROM changed WHERE expires_at IS NULL OR expires_at > now() LIMIT 101);
          ELSE
            ids := ARRAY(SELECT id FROM changed LIMIT 101);
          END IF;
          IF cardinality(ids) > 0 THEN
            PERFORM pg_notify('access_changes', CASE WHEN cardinality(ids) > 100 THEN '*' ELSE array_to_string(ids, ' ') END);
          END IF;
          RETURN NULL;
        END
      $$;
    `);
    for (const table of TABLES) {
      await queryRunner.query(`
        CREATE TRIGGER ${table}_announce_update AFTER UPDATE ON ${table} REFERENCING OLD TABLE AS changed
          FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changes();
        CREATE TRIGGER ${table}_announce_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed
          FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changes();
        CREATE TRIGGER ${table}_announce_truncate AFTER TRUNCATE ON ${table}
          FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changes();
      `);
    }
    // An instance that has cached a client's secrets does not know a new secret yet.
    await queryRunner.query(`
      CREATE TRIGGER client_secrets_announce_insert AFTER INSERT ON client_secrets REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changes();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER client_secrets_announce_insert ON client_secrets');
    for (const table of TABLES) {
      await queryRunner.query(`
        DROP TRIGGER ${table}_announce_update ON ${table};
        DROP TRIGGER ${table}_announce_delete ON ${table};
        DROP TRIGGER ${table}_announce_truncate ON ${table};
      `);
    }
    await queryRunner.query('DROP FUNCTION announce_access_changes');
  }
}

const TABLES = ['clients', 'client_secrets', 'users', 'consents', 'grants', 'access_tokens'];

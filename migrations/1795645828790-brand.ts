import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * In whose name the service speaks, where an admin has set it: one row, whose nulls stand for the settings. Every change is announced,
 * however it was made, so that all instances show the same. Logos are stored by the digest of the image.
 */
export class Brand1795645828790 implements MigrationInterface {
  name = 'Brand1795645828790';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE logos (
        id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{64}$'),
        image bytea NOT NULL CHECK (length(image) <= 102400),
        -- When it was given last: one that nothing shows is kept for a day.
        stored_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX logos_stored_at_idx ON logos (stored_at);

      CREATE TABLE brand (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        -- Null: as the settings say; empty: nothing.
        name text CHECK (length(name) BETWEEN 1 AND 60),
        accent_color text CHECK (accent_color ~ '^(#[0-9a-f]{6})?$'),
        support_email text CHECK (length(support_email) <= 254),
        privacy_url text CHECK (length(privacy_url) <= 2000),
        terms_url text CHECK (length(terms_url) <= 2000),
        footer text CHECK (length(footer) <= 300),
        logo_id text REFERENCES logos (id),
        changed_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX brand_logo_id_idx ON brand (logo_id);
      INSERT INTO brand DEFAULT VALUES;

      CREATE FUNCTION announce_brand() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM pg_notify('brand_changed', '');
          RETURN NULL;
        END
      $$;
      CREATE TRIGGER brand_announce AFTER INSERT OR UPDATE OR DELETE ON brand
        FOR EACH STATEMENT EXECUTE FUNCTION announce_brand();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE brand;
      DROP FUNCTION announce_brand;
      DROP TABLE logos;
    `);
  }
}

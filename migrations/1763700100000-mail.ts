import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Mail: the queue of mails, verified email addresses, the links that verify them, and the contacts of clients. Every step stands
 * alone, because it takes a lock on another table.
 */
export class Mail1763700100000 implements MigrationInterface {
  name = 'Mail1763700100000';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE users
        ADD COLUMN IF NOT EXISTS email_verified_at timestamptz,
        ADD COLUMN IF NOT EXISTS unwanted_mails text[] NOT NULL DEFAULT '{}'
    `);
    await queryRunner.query(
      'ALTER TABLE password_links ADD COLUMN IF NOT EXISTS mailed boolean NOT NULL DEFAULT false',
    );
    await queryRunner.query(`
      ALTER TABLE webhook_endpoints
        -- The results of its last 20 attempts, oldest first: "." for delivered, "x" for failed.
        ADD COLUMN IF NOT EXISTS recent_results text NOT NULL DEFAULT '',
        ADD COLUMN IF NOT EXISTS failing_told_at timestamptz
    `);
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS email_links (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        purpose text NOT NULL CHECK (purpose IN ('verify', 'sign_up')),
        -- Null for a person who has no account yet.
        user_id text REFERENCES users (id) ON DELETE CASCADE,
        email text NOT NULL,
        email_key text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        CONSTRAINT email_links_user_check CHECK ((purpose = 'verify') = (user_id IS NOT NULL))
      )
    `);
    await queryRunner.query('CREATE INDEX IF NOT EXISTS email_links_user_id_idx ON email_links (user_id)');
    await queryRunner.query(
      'CREATE INDEX IF NOT EXISTS email_links_email_key_idx ON email_links (email_key)',
    );
    await queryRunner.query(
      'CREATE INDEX IF NOT EXISTS email_links_expires_at_idx ON email_links (expires_at)',
    );
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS client_contacts (
        id text PRIMARY KEY CHECK (id ~ '^cont[0-9A-HJKMNP-TV-Z]{26}$'),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        email text NOT NULL,
        email_key text NOT NULL,
        verified_at timestamptz,
        link_digest bytea CONSTRAINT client_contacts_link_digest_key UNIQUE CHECK (octet_length(link_digest) = 32),
        link_expires_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT client_contacts_email_key UNIQUE (client_id, email_key)
      )
    `);
    await queryRunner.query(
      'CREATE INDEX IF NOT EXISTS client_contacts_email_key_idx ON client_contacts (email_key)',
    );
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS mails (
        id text PRIMARY KEY CHECK (id ~ '^mail[0-9A-HJKMNP-TV-Z]{26}$'),
        kind text NOT NULL,
        user_id text REFERENCES users (id) ON DELETE CASCADE,
        client_id text REFERENCES clients (id) ON DELETE CASCADE,
        address text NOT NULL,
        -- What it tells of: one cause makes one mail.
        cause text NOT NULL CONSTRAINT mails_cause_key UNIQUE,
        -- Subject and text, sealed; null once nothing is left to send.
        sealed_content bytea,
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'failed')),
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL DEFAULT now(),
        -- The current holder of the lease; fences off a previous holder that reports late.
        lease_id text,
        lease_until timestamptz,
        last_error text,
        created_at timestamptz NOT NULL DEFAULT now(),
        sent_at timestamptz,
        finished_at timestamptz,
        CONSTRAINT mails_content_check CHECK ((state = 'pending') = (sealed_content IS NOT NULL))
      )
    `);
    await queryRunner.query(
      `CREATE INDEX IF NOT EXISTS mails_due_idx ON mails (next_attempt_at) WHERE state = 'pending'`,
    );
    await queryRunner.query('CREATE INDEX IF NOT EXISTS mails_user_id_idx ON mails (user_id, id)');
    await queryRunner.query('CREATE INDEX IF NOT EXISTS mails_client_id_idx ON mails (client_id)');
    await queryRunner.query('CREATE INDEX IF NOT EXISTS mails_state_idx ON mails (state, id)');
    // For the erasure of a person: what was sent to the address without an account.
    await queryRunner.query(
      'CREATE INDEX IF NOT EXISTS mails_address_idx ON mails (lower(address)) WHERE user_id IS NULL',
    );
    await queryRunner.query('CREATE INDEX IF NOT EXISTS mails_finished_at_idx ON mails (finished_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE mails');
    await queryRunner.query('DROP TABLE client_contacts');
    await queryRunner.query('DROP TABLE email_links');
    await queryRunner.query(
      'ALTER TABLE webhook_endpoints DROP COLUMN failing_told_at, DROP COLUMN recent_results',
    );
    await queryRunner.query('ALTER TABLE password_links DROP COLUMN mailed');
    await queryRunner.query('ALTER TABLE users DROP COLUMN unwanted_mails, DROP COLUMN email_verified_at');
  }
}

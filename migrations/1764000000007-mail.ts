import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The queue of mails, and the contacts of clients. */
export class Mail1764000000007 implements MigrationInterface {
  name = 'Mail1764000000007';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE mails (
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
        -- Until when its link works: it is not sent after that. Null: sent at any time.
        useful_until timestamptz,
        -- The current holder of the lease; fences off a previous holder that reports late.
        lease_id text,
        lease_until timestamptz,
        last_error text,
        created_at timestamptz NOT NULL DEFAULT now(),
        sent_at timestamptz,
        finished_at timestamptz,
        CONSTRAINT mails_content_check CHECK ((state = 'pending') = (sealed_content IS NOT NULL))
      );
      CREATE INDEX mails_due_idx ON mails (next_attempt_at) WHERE state = 'pending';
      CREATE INDEX mails_user_id_idx ON mails (user_id, id);
      CREATE INDEX mails_client_id_idx ON mails (client_id);
      CREATE INDEX mails_state_idx ON mails (state, id);
      -- For the erasure of a person: what was sent to the address without an account.
      CREATE INDEX mails_address_idx ON mails (lower(address)) WHERE user_id IS NULL;
      CREATE INDEX mails_finished_at_idx ON mails (finished_at);

      CREATE TABLE client_contacts (
        id text PRIMARY KEY CHECK (id ~ '^cont[0-9A-HJKMNP-TV-Z]{26}$'),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        email text NOT NULL,
        email_key text NOT NULL,
        verified_at timestamptz,
        link_digest bytea CONSTRAINT client_contacts_link_digest_key UNIQUE CHECK (octet_length(link_digest) = 32),
        link_expires_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT client_contacts_email_key UNIQUE (client_id, email_key)
      );
      CREATE INDEX client_contacts_email_key_idx ON client_contacts (email_key);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE client_contacts, mails;
    `);
  }
}

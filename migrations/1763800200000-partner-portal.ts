import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The partner's own portal: members of organisations, invitations, their portal sessions, redirect URIs that wait for an operator, when
 * secrets were used, and the last requests of each client. A member's portal session has a table of its own: a build that does not know
 * members' roles finds no session there. A session stores the login that it goes on with, because it gets a new id when its user
 * authenticates again.
 */
export class PartnerPortal1763800200000 implements MigrationInterface {
  name = 'PartnerPortal1763800200000';
  /** Each step is short and runs in a transaction of its own; every step may run again. */
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sessions ADD COLUMN IF NOT EXISTS login_id text');
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS organisation_members (
        organisation_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        user_id text NOT NULL CONSTRAINT organisation_members_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
        role text NOT NULL CHECK (role IN ('viewer', 'developer', 'admin')),
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT organisation_members_pkey PRIMARY KEY (organisation_id, user_id),
        -- The owner's own account is always an admin.
        CONSTRAINT organisation_members_owner_check CHECK (user_id <> organisation_id)
      );
      CREATE INDEX IF NOT EXISTS organisation_members_user_id_idx ON organisation_members (user_id);
    `);
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS organisation_invitations (
        id text PRIMARY KEY CHECK (id ~ '^mbiv[0-9A-HJKMNP-TV-Z]{26}$'),
        organisation_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        email text NOT NULL,
        email_key text NOT NULL,
        role text NOT NULL CHECK (role IN ('viewer', 'developer', 'admin')),
        digest bytea NOT NULL CONSTRAINT organisation_invitations_digest_key UNIQUE CHECK (octet_length(digest) = 32),
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        CONSTRAINT organisation_invitations_email_key UNIQUE (organisation_id, email_key)
      );
      CREATE INDEX IF NOT EXISTS organisation_invitations_email_key_idx ON organisation_invitations (email_key);
      CREATE INDEX IF NOT EXISTS organisation_invitations_expires_at_idx ON organisation_invitations (expires_at);
    `);
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS portal_member_sessions (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        -- Null for the owner's own account. With the membership, the session ends.
        member_of text,
        -- The login that it was started with, and ends with.
        login_id text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        CONSTRAINT portal_member_sessions_member_fkey FOREIGN KEY (member_of, user_id)
          REFERENCES organisation_members (organisation_id, user_id) ON DELETE CASCADE
      );
      CREATE INDEX IF NOT EXISTS portal_member_sessions_client_id_idx ON portal_member_sessions (client_id);
      CREATE INDEX IF NOT EXISTS portal_member_sessions_user_id_idx ON portal_member_sessions (user_id, member_of);
      CREATE INDEX IF NOT EXISTS portal_member_sessions_member_of_idx ON portal_member_sessions (member_of, user_id);
      CREATE INDEX IF NOT EXISTS portal_member_sessions_expires_at_idx ON portal_member_sessions (expires_at);
    `);
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS redirect_uri_requests (
        id text PRIMARY KEY CHECK (id ~ '^ruri[0-9A-HJKMNP-TV-Z]{26}$'),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        action text NOT NULL CHECK (action IN ('add', 'remove')),
        uri text NOT NULL,
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected')),
        reason text,
        -- Ids without foreign keys, as in the audit log.
        requested_by text NOT NULL,
        requested_at timestamptz NOT NULL DEFAULT now(),
        decided_by_type text CHECK (decided_by_type IN ('user', 'client', 'service')),
        decided_by_id text,
        decided_at timestamptz,
        CONSTRAINT redirect_uri_requests_decision_check CHECK ((state = 'pending') = (decided_at IS NULL))
      );
      CREATE INDEX IF NOT EXISTS redirect_uri_requests_client_id_idx ON redirect_uri_requests (client_id, id);
      CREATE INDEX IF NOT EXISTS redirect_uri_requests_state_idx ON redirect_uri_requests (state, id);
      CREATE INDEX IF NOT EXISTS redirect_uri_requests_decided_at_idx ON redirect_uri_requests (decided_at);
      CREATE UNIQUE INDEX IF NOT EXISTS redirect_uri_requests_pending_key ON redirect_uri_requests (client_id, uri)
        WHERE state = 'pending';
    `);
    // Not a column of the secrets: whoever remembers a client would have to forget it whenever its secret is used.
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS client_secret_uses (
        client_id text NOT NULL,
        digest bytea NOT NULL,
        last_used_at timestamptz NOT NULL,
        PRIMARY KEY (client_id, digest),
        FOREIGN KEY (client_id, digest) REFERENCES client_secrets (client_id, digest) ON DELETE CASCADE
      ) WITH (fillfactor = 70)
    `);
    // Without a foreign key: it is written behind the answers, when the client may be gone.
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS client_requests (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        client_id text NOT NULL,
        occurred_at timestamptz NOT NULL,
        method text NOT NULL,
        route text NOT NULL,
        status integer NOT NULL,
        error text,
        request_id text NOT NULL,
        milliseconds integer NOT NULL,
        -- Whether the sandbox made it fail on request.
        injected boolean NOT NULL DEFAULT false
      );
      CREATE INDEX IF NOT EXISTS client_requests_client_id_idx ON client_requests (client_id, occurred_at, id);
      CREATE INDEX IF NOT EXISTS client_requests_occurred_at_idx ON client_requests (occurred_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE client_requests, client_secret_uses, redirect_uri_requests, portal_member_sessions, organisation_invitations,
        organisation_members;
      ALTER TABLE sessions DROP COLUMN login_id;
    `);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The portal of partners: its links and sessions, members of organisations, redirect URIs that wait for an operator, and the last
 * requests of each client.
 */
export class Portal1764000000009 implements MigrationInterface {
  name = 'Portal1764000000009';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE portal_links (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        -- The grant of the owner's token that requested the link; null for client credentials.
        grant_id text REFERENCES grants (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        redeemed_at timestamptz
      );
      CREATE INDEX portal_links_client_id_idx ON portal_links (client_id);
      CREATE INDEX portal_links_grant_id_idx ON portal_links (grant_id) WHERE grant_id IS NOT NULL;
      CREATE INDEX portal_links_expires_at_idx ON portal_links (expires_at);

      CREATE TABLE portal_sessions (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        grant_id text REFERENCES grants (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX portal_sessions_client_id_idx ON portal_sessions (client_id);
      CREATE INDEX portal_sessions_grant_id_idx ON portal_sessions (grant_id) WHERE grant_id IS NOT NULL;
      CREATE INDEX portal_sessions_expires_at_idx ON portal_sessions (expires_at);

      CREATE TABLE organisation_members (
        organisation_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        user_id text NOT NULL CONSTRAINT organisation_members_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
        role text NOT NULL CHECK (role IN ('viewer', 'developer', 'admin')),
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT organisation_members_pkey PRIMARY KEY (organisation_id, user_id),
        -- The owner's own account is always an admin.
        CONSTRAINT organisation_members_owner_check CHECK (user_id <> organisation_id)
      );
      CREATE INDEX organisation_members_user_id_idx ON organisation_members (user_id);

      CREATE TABLE organisation_invitations (
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
      CREATE INDEX organisation_invitations_email_key_idx ON organisation_invitations (email_key);
      CREATE INDEX organisation_invitations_expires_at_idx ON organisation_invitations (expires_at);

      CREATE TABLE portal_member_sessions (
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
      CREATE INDEX portal_member_sessions_client_id_idx ON portal_member_sessions (client_id);
      CREATE INDEX portal_member_sessions_user_id_idx ON portal_member_sessions (user_id, member_of);
      CREATE INDEX portal_member_sessions_member_of_idx ON portal_member_sessions (member_of, user_id);
      CREATE INDEX portal_member_sessions_expires_at_idx ON portal_member_sessions (expires_at);

      CREATE TABLE redirect_uri_requests (
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
      CREATE UNIQUE INDEX redirect_uri_requests_pending_key ON redirect_uri_requests (client_id, uri) WHERE state = 'pending';
      CREATE INDEX redirect_uri_requests_client_id_idx ON redirect_uri_requests (client_id, id);
      CREATE INDEX redirect_uri_requests_state_idx ON redirect_uri_requests (state, id);
      CREATE INDEX redirect_uri_requests_decided_at_idx ON redirect_uri_requests (decided_at);

      -- Without a foreign key: it is written behind the answers, when the client may be gone.
      CREATE TABLE client_requests (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        client_id text NOT NULL,
        occurred_at timestamptz NOT NULL,
        method text NOT NULL,
        route text NOT NULL,
        status integer NOT NULL,
        error text,
        -- Every error page and every log line names it.
        request_id text NOT NULL,
        milliseconds integer NOT NULL,
        -- Whether the sandbox made it fail on request.
        injected boolean NOT NULL DEFAULT false
      );
      CREATE INDEX client_requests_client_id_idx ON client_requests (client_id, occurred_at, id);
      CREATE INDEX client_requests_request_id_idx ON client_requests (request_id, client_id);
      CREATE INDEX client_requests_occurred_at_idx ON client_requests (occurred_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE client_requests, redirect_uri_requests, portal_member_sessions, organisation_invitations,
        organisation_members, portal_sessions, portal_links;
    `);
  }
}

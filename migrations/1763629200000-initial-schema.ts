import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SCOPES } from './scopes.js';

/**
 * The first schema: accounts, clients, consents, the four kinds of tokens and keys, sessions and the audit log. Every random
 * secret is stored as its SHA-256 digest, which is also its lookup key. Only the database's clock decides about expiry, so that
 * instances whose clocks differ agree.
 */
export class InitialSchema1763629200000 implements MigrationInterface {
  name = 'InitialSchema1763629200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE users (
        id text PRIMARY KEY CHECK (id ~ '^user[0-9A-HJKMNP-TV-Z]{26}$'),
        email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
        -- The unique form of the address: case-folded by the service, so that the locale of the database does not matter.
        email_key text NOT NULL CONSTRAINT users_email_key UNIQUE,
        name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
        kind text NOT NULL CHECK (kind IN ('individual', 'organisation')),
        role text NOT NULL CHECK (role IN ('user', 'operator')),
        password_hash text,
        webhooks_enabled boolean NOT NULL DEFAULT true,
        enabled boolean NOT NULL DEFAULT true,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      );

      CREATE TABLE scopes (
        name text PRIMARY KEY CHECK (name ~ '^[a-z0-9_.:-]{1,64}$'),
        description text NOT NULL CHECK (length(description) BETWEEN 1 AND 300),
        audience text NOT NULL CHECK (audience IN ('partner', 'operator'))
      );

      CREATE TABLE clients (
        id text PRIMARY KEY CHECK (id ~ '^clnt[0-9A-HJKMNP-TV-Z]{26}$'),
        name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
        type text NOT NULL CHECK (type IN ('confidential', 'public')),
        grant_types text[] NOT NULL,
        scopes text[] NOT NULL,
        redirect_uris text[] NOT NULL,
        owner_id text NOT NULL CONSTRAINT clients_owner_id_fkey REFERENCES users (id),
        enabled boolean NOT NULL DEFAULT true,
        rate_limit integer CHECK (rate_limit BETWEEN 1 AND 1000000000),
        trusted boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        CHECK (type = 'confidential' OR (NOT trusted AND grant_types <@ ARRAY['authorization_code', 'refresh_token']))
      );
      CREATE INDEX clients_owner_id_idx ON clients (owner_id, id);

      CREATE TABLE client_secrets (
        digest bytea NOT NULL CHECK (octet_length(digest) = 32),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        PRIMARY KEY (client_id, digest)
      );
      CREATE INDEX client_secrets_expires_at_idx ON client_secrets (expires_at) WHERE expires_at IS NOT NULL;

      CREATE TABLE consents (
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        user_id text NOT NULL CONSTRAINT consents_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
        scopes text[] NOT NULL,
        granted_at timestamptz NOT NULL DEFAULT now(),
        revoked_at timestamptz,
        evidence text CHECK (length(evidence) <= 2000),
        PRIMARY KEY (client_id, user_id)
      );
      CREATE INDEX consents_user_id_idx ON consents (user_id, client_id);

      -- The result of one authorization: a family of tokens. Revoking the family is one write to this row.
      CREATE TABLE grants (
        id text PRIMARY KEY CHECK (id ~ '^grnt[0-9A-HJKMNP-TV-Z]{26}$'),
        client_id text NOT NULL,
        user_id text NOT NULL,
        scopes text[] NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        revocation_reason text,
        FOREIGN KEY (client_id, user_id) REFERENCES consents (client_id, user_id) ON DELETE CASCADE
      );
      CREATE INDEX grants_client_id_idx ON grants (client_id, user_id, id);
      CREATE INDEX grants_user_id_idx ON grants (user_id, id);
      CREATE INDEX grants_expires_at_idx ON grants (expires_at);
      CREATE INDEX grants_revoked_at_idx ON grants (revoked_at) WHERE revoked_at IS NOT NULL;

      CREATE TABLE authorization_codes (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        client_id text NOT NULL,
        user_id text NOT NULL,
        redirect_uri text NOT NULL,
        scopes text[] NOT NULL,
        code_challenge text CHECK (length(code_challenge) = 43),
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        consumed_at timestamptz,
        grant_id text REFERENCES grants (id) ON DELETE CASCADE,
        FOREIGN KEY (client_id, user_id) REFERENCES consents (client_id, user_id) ON DELETE CASCADE,
        CHECK ((consumed_at IS NULL) = (grant_id IS NULL))
      );
      CREATE INDEX authorization_codes_pair_idx ON authorization_codes (client_id, user_id);
      CREATE INDEX authorization_codes_user_idx ON authorization_codes (user_id);
      CREATE INDEX authorization_codes_grant_id_idx ON authorization_codes (grant_id) WHERE grant_id IS NOT NULL;
      CREATE INDEX authorization_codes_expires_at_idx ON authorization_codes (expires_at) WHERE consumed_at IS NULL;

      CREATE TABLE access_tokens (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        -- Null for client credentials.
        grant_id text REFERENCES grants (id) ON DELETE CASCADE,
        scopes text[] NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz
      );
      CREATE INDEX access_tokens_client_id_idx ON access_tokens (client_id);
      CREATE INDEX access_tokens_grant_id_idx ON access_tokens (grant_id) WHERE grant_id IS NOT NULL;
      CREATE INDEX access_tokens_expires_at_idx ON access_tokens (expires_at);

      CREATE TABLE refresh_tokens (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        grant_id text NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        retired_at timestamptz,
        -- Only during the grace time: its end, and the successor pair, sealed under a key derived from the retired token.
        grace_ends_at timestamptz,
        successor_digest bytea CHECK (octet_length(successor_digest) = 32),
        successor_access_digest bytea CHECK (octet_length(successor_access_digest) = 32),
        sealed_successor bytea,
        CHECK ((retired_at IS NULL) = (successor_digest IS NULL))
      );
      -- A grant has at most one live refresh token.
      CREATE UNIQUE INDEX refresh_tokens_live_idx ON refresh_tokens (grant_id) WHERE retired_at IS NULL;
      CREATE INDEX refresh_tokens_grant_id_idx ON refresh_tokens (grant_id);
      CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at) WHERE retired_at IS NULL;
      CREATE INDEX refresh_tokens_sealed_idx ON refresh_tokens (grace_ends_at) WHERE sealed_successor IS NOT NULL;

      CREATE TABLE sessions (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        address text,
        user_agent text CHECK (length(user_agent) <= 500)
      );
      CREATE INDEX sessions_user_id_idx ON sessions (user_id);
      CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);

      CREATE TABLE password_links (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz
      );
      CREATE INDEX password_links_user_id_idx ON password_links (user_id);
      CREATE INDEX password_links_expires_at_idx ON password_links (expires_at);

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

      -- Actors and subjects are plain ids without foreign keys: the audit log outlives the rows it describes.
      CREATE TABLE audit_events (
        id text PRIMARY KEY CHECK (id ~ '^audt[0-9A-HJKMNP-TV-Z]{26}$'),
        occurred_at timestamptz NOT NULL DEFAULT now(),
        actor_type text NOT NULL CHECK (actor_type IN ('user', 'client', 'service')),
        actor_id text,
        action text NOT NULL,
        subject_type text NOT NULL,
        subject_id text NOT NULL,
        address text,
        request_id text,
        before jsonb,
        after jsonb
      );
      CREATE INDEX audit_events_occurred_at_idx ON audit_events (occurred_at);
      CREATE INDEX audit_events_actor_idx ON audit_events (actor_id, id);
      CREATE INDEX audit_events_subject_idx ON audit_events (subject_id, id);
      CREATE INDEX audit_events_action_idx ON audit_events (action, id);
    `);
    for (const scope of SCOPES) {
      await queryRunner.query('INSERT INTO scopes (name, audience, description) VALUES ($1, $2, $3)', scope);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE audit_events, portal_sessions, portal_links, password_links, sessions, refresh_tokens, access_tokens,
        authorization_codes, grants, consents, client_secrets, clients, scopes, users;
    `);
  }
}

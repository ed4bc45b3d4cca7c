import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The accounts of people, their sessions, and the links that are mailed to them. Every random secret of this schema is stored as its
 * SHA-256 digest, which is also its lookup key. Only the database's clock decides about expiry, so that instances whose clocks
 * differ agree.
 *
 * Users and clients are live or in a sandbox (contract §19). `realm` is `live`, or the id of the owner whose sandbox it is: rows
 * with different realms cannot be joined, because every foreign key between them carries it. What is stored of grants and codes
 * refers to a consent, which has it (docs/decisions/0022-realms.md).
 */
export class People1764000000001 implements MigrationInterface {
  name = 'People1764000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Operators search for parts of names and addresses.
      CREATE EXTENSION IF NOT EXISTS pg_trgm;

      CREATE TABLE users (
        id text PRIMARY KEY CHECK (id ~ '^user[0-9A-HJKMNP-TV-Z]{26}$'),
        email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
        -- The unique form of the address: case-folded by the service, so that the locale of the database does not matter.
        email_key text NOT NULL CONSTRAINT users_email_key UNIQUE,
        email_verified_at timestamptz,
        name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
        kind text NOT NULL CHECK (kind IN ('individual', 'organisation')),
        role text NOT NULL CHECK (role IN ('user', 'operator')),
        operator_role text,
        password_hash text,
        enabled boolean NOT NULL DEFAULT true,
        webhooks_enabled boolean NOT NULL DEFAULT true,
        unwanted_mails text[] NOT NULL DEFAULT '{}',
        environment text NOT NULL DEFAULT 'live',
        realm text NOT NULL DEFAULT 'live',
        sandbox_owner_id text,
        -- For the foreign key that says that owners are live.
        owner_realm text NOT NULL DEFAULT 'live',
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT users_operator_role_check CHECK (
          CASE WHEN role = 'operator' THEN operator_role IS NOT NULL AND operator_role IN ('viewer', 'support', 'admin')
               ELSE operator_role IS NULL END),
        -- A driver of a sandbox has nothing to log in with, and no address that mail is sent to.
        CONSTRAINT users_environment_check CHECK (owner_realm = 'live' AND CASE environment
          WHEN 'live' THEN realm = 'live' AND sandbox_owner_id IS NULL
          WHEN 'sandbox' THEN sandbox_owner_id IS NOT NULL AND realm = sandbox_owner_id AND role = 'user'
                          AND password_hash IS NULL AND email_verified_at IS NULL AND email_key LIKE '%@sandbox.invalid'
          ELSE false END)
      );
      CREATE UNIQUE INDEX users_realm_key ON users (id, realm);
      CREATE INDEX users_search_idx ON users USING gin (email gin_trgm_ops, name gin_trgm_ops);
      CREATE INDEX users_operator_role_idx ON users (operator_role, id) WHERE operator_role IS NOT NULL;
      CREATE INDEX users_organisations_idx ON users (id) WHERE kind = 'organisation';
      CREATE INDEX users_sandbox_owner_id_idx ON users (sandbox_owner_id, id) WHERE sandbox_owner_id IS NOT NULL;
      ALTER TABLE users ADD CONSTRAINT users_sandbox_owner_fkey
        FOREIGN KEY (sandbox_owner_id, owner_realm) REFERENCES users (id, realm) ON DELETE CASCADE;

      -- Operators are admins unless it is said otherwise; others have no such role.
      CREATE FUNCTION complete_operator_role() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.operator_role := CASE WHEN NEW.role = 'operator' THEN coalesce(NEW.operator_role, 'admin') END;
          RETURN NEW;
        END
      $$;
      CREATE TRIGGER users_complete_operator_role BEFORE INSERT OR UPDATE OF role, operator_role ON users
        FOR EACH ROW EXECUTE FUNCTION complete_operator_role();

      -- A rule that no key or check can say, because it compares a row with what it was. For clients too.
      CREATE FUNCTION refuse_other_environment() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'the environment of % is fixed', OLD.id USING ERRCODE = 'restrict_violation';
        END
      $$;
      CREATE TRIGGER users_environment_fixed BEFORE UPDATE OF environment, realm ON users
        FOR EACH ROW WHEN (OLD.realm IS DISTINCT FROM NEW.realm) EXECUTE FUNCTION refuse_other_environment();

      CREATE TABLE sessions (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        -- May appear in a URL, unlike the digest. Hexadecimal digits are valid ULID characters too.
        id text NOT NULL DEFAULT 'sess0' || upper(left(replace(gen_random_uuid()::text, '-', ''), 25))
          CHECK (id ~ '^sess[0-9A-HJKMNP-TV-Z]{26}$'),
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        -- Stays when the user authenticates again, and the session gets a new id.
        login_id text,
        method text NOT NULL DEFAULT 'password' CHECK (method IN ('password', 'passkey', 'provider')),
        -- Whether a second factor or a passkey was given in the session.
        second_factor boolean NOT NULL DEFAULT false,
        provider text,
        provider_subject text,
        provider_sid text,
        -- When the person last authenticated at the provider.
        authenticated_at timestamptz,
        -- The provider's ID token: logging out there names it.
        sealed_id_token bytea,
        address text,
        user_agent text CHECK (length(user_agent) <= 500),
        created_at timestamptz NOT NULL DEFAULT now(),
        last_seen_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        -- An operator's session ends when it is not used, so its expires_at moves with its use; this is where that stops. Null for
        -- a session that ends at expires_at, whatever its use.
        ends_at timestamptz,
        CONSTRAINT sessions_provider_check
          CHECK ((method = 'provider') = (provider IS NOT NULL AND provider_subject IS NOT NULL))
      );
      CREATE UNIQUE INDEX sessions_id_key ON sessions (id);
      CREATE INDEX sessions_user_id_id_idx ON sessions (user_id, id);
      CREATE INDEX sessions_provider_idx ON sessions (provider, provider_subject) WHERE provider IS NOT NULL;
      CREATE INDEX sessions_provider_sid_idx ON sessions (provider, provider_sid) WHERE provider_sid IS NOT NULL;
      CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);

      CREATE TABLE password_links (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        purpose text,
        -- The form that created it, so that submitting a form twice creates only one link.
        form_id text CONSTRAINT password_links_form_id_key UNIQUE,
        mailed boolean NOT NULL DEFAULT false,
        -- What was asked for before the mail, such as an authorization request (contract §18).
        return_to bytea,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz
      );
      CREATE INDEX password_links_user_id_idx ON password_links (user_id);
      CREATE INDEX password_links_expires_at_idx ON password_links (expires_at);

      CREATE TABLE email_links (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        purpose text NOT NULL CHECK (purpose IN ('verify', 'sign_up')),
        -- Null for a person who has no account yet.
        user_id text REFERENCES users (id) ON DELETE CASCADE,
        email text NOT NULL,
        email_key text NOT NULL,
        return_to bytea,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        CONSTRAINT email_links_user_check CHECK ((purpose = 'verify') = (user_id IS NOT NULL))
      );
      CREATE INDEX email_links_user_id_idx ON email_links (user_id);
      CREATE INDEX email_links_email_key_idx ON email_links (email_key);
      CREATE INDEX email_links_expires_at_idx ON email_links (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE email_links, password_links, sessions, users;
      DROP FUNCTION refuse_other_environment, complete_operator_role;
      DROP EXTENSION pg_trgm;
    `);
  }
}

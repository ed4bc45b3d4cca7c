import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Ways to sign in besides the password: passkeys, authenticator apps and recovery codes (contract §16), and identity providers. Also
 * what a sign-in stores between its steps. Secrets are digests or sealed.
 */
export class SignIn1764000000002 implements MigrationInterface {
  name = 'SignIn1764000000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE passkeys (
        id text PRIMARY KEY,
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        -- In base64url, as browsers send it.
        credential_id text NOT NULL CONSTRAINT passkeys_credential_id_key UNIQUE,
        public_key bytea NOT NULL,
        sign_count bigint NOT NULL,
        transports text[] NOT NULL,
        name text NOT NULL,
        -- Whether the passkey is copied to other devices of its owner.
        backed_up boolean NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz
      );
      CREATE INDEX passkeys_user_id_idx ON passkeys (user_id);

      CREATE TABLE authenticator_apps (
        user_id text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
        sealed_secret bytea NOT NULL,
        -- The time step of the last code that was used. Codes of this step or earlier ones are refused.
        last_step bigint NOT NULL,
        confirmed_at timestamptz NOT NULL DEFAULT now()
      );

      -- They replace the code of an authenticator app.
      CREATE TABLE recovery_codes (
        digest bytea PRIMARY KEY,
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX recovery_codes_user_id_idx ON recovery_codes (user_id);

      CREATE TABLE webauthn_challenges (
        digest bytea PRIMARY KEY,
        -- Who adds a passkey; null for a sign-in.
        user_id text REFERENCES users (id) ON DELETE CASCADE,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX webauthn_challenges_user_id_idx ON webauthn_challenges (user_id);
      CREATE INDEX webauthn_challenges_expires_at_idx ON webauthn_challenges (expires_at);

      CREATE TABLE pending_sign_ins (
        digest bytea PRIMARY KEY,
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        -- A digest of the password's hash and the email address of the account as they were.
        account_mark bytea NOT NULL,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX pending_sign_ins_user_id_idx ON pending_sign_ins (user_id);
      CREATE INDEX pending_sign_ins_expires_at_idx ON pending_sign_ins (expires_at);

      -- Which user of an identity provider a user is.
      CREATE TABLE identities (
        issuer text NOT NULL,
        subject text NOT NULL,
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        provider text NOT NULL,
        linked_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (issuer, subject),
        CONSTRAINT identities_user_provider_key UNIQUE (user_id, provider)
      );

      -- The sign-ins that browsers have started.
      CREATE TABLE provider_sign_ins (
        state_digest bytea PRIMARY KEY CHECK (length(state_digest) = 32),
        browser_digest bytea NOT NULL CHECK (length(browser_digest) = 32),
        provider text NOT NULL,
        sealed bytea NOT NULL,
        return_to text,
        user_id text REFERENCES users (id) ON DELETE CASCADE,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX provider_sign_ins_browser_idx ON provider_sign_ins (browser_digest);
      CREATE INDEX provider_sign_ins_user_idx ON provider_sign_ins (user_id) WHERE user_id IS NOT NULL;
      CREATE INDEX provider_sign_ins_expires_at_idx ON provider_sign_ins (expires_at);

      -- The logout tokens of providers that were used.
      CREATE TABLE logout_tokens (
        provider text NOT NULL,
        jti_digest bytea NOT NULL CHECK (length(jti_digest) = 32),
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (provider, jti_digest)
      );
      CREATE INDEX logout_tokens_expires_at_idx ON logout_tokens (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE logout_tokens, provider_sign_ins, identities, pending_sign_ins, webauthn_challenges, recovery_codes,
        authenticator_apps, passkeys;
    `);
  }
}

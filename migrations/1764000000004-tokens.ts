import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Grants, codes, and the keys that sign tokens. Tokens have no rows: an access token itself says what was issued, and the grant's row
 * holds the generation of its refresh token (docs/decisions/0012-tokens-without-rows.md).
 */
export class Tokens1764000000004 implements MigrationInterface {
  name = 'Tokens1764000000004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Random bytes, sealed under ENCRYPTION_KEY. One key signs. Retired keys verify for as long as one of their tokens can be live; a
      -- revoked key does neither.
      CREATE TABLE token_keys (
        -- Random; part of every token.
        id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
        sealed bytea NOT NULL,
        -- The longest lifetimes, in seconds, of the access tokens and grants issued under this key.
        access_ttl integer NOT NULL,
        grant_ttl integer NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        retired_at timestamptz,
        revoked_at timestamptz,
        CHECK (revoked_at IS NULL OR retired_at IS NOT NULL)
      );
      CREATE UNIQUE INDEX token_keys_signing_idx ON token_keys ((true)) WHERE retired_at IS NULL;

      -- The result of one authorization: a family of tokens. Revoking the family is one write to this row. A rotation changes no
      -- indexed column, and the new row fits beside the old one: a heap-only update.
      CREATE TABLE grants (
        id text PRIMARY KEY CHECK (id ~ '^grnt[0-9A-HJKMNP-TV-Z]{26}$'),
        client_id text NOT NULL,
        user_id text NOT NULL,
        scopes text[] NOT NULL,
        generation integer NOT NULL DEFAULT 0,
        -- The other fields of the access token: the key that signed it, the stamp of its rights, its start and its expiry.
        token_key_id bigint NOT NULL,
        token_era bigint NOT NULL,
        token_position bigint NOT NULL,
        issued_at timestamptz NOT NULL DEFAULT now(),
        access_expires_at timestamptz NOT NULL,
        -- Null: all scopes of the grant.
        asked_scopes text[],
        given_scopes text[],
        refresh_expires_at timestamptz NOT NULL,
        -- When generations were retired, the newest last, and which: none that was past its grace time at the last rotation.
        rotations timestamptz[] NOT NULL DEFAULT '{}',
        -- The time of the same place is that of this generation, or a little earlier (src/tokens/refresh/rotations.sql.ts).
        rotated_generations integer[] NOT NULL DEFAULT '{}',
        -- When to check whether refresh_expires_at is over. That column changes with every rotation, so it has no index.
        look_again_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        revocation_reason text,
        FOREIGN KEY (client_id, user_id) REFERENCES consents (client_id, user_id) ON DELETE CASCADE
      ) WITH (fillfactor = 80);
      CREATE INDEX grants_client_id_idx ON grants (client_id, user_id, id);
      -- The list of a client's grants, by id.
      CREATE INDEX grants_of_client_idx ON grants (client_id, id) WHERE revoked_at IS NULL;
      CREATE INDEX grants_user_id_idx ON grants (user_id, id);
      CREATE INDEX grants_expires_at_idx ON grants (expires_at);
      CREATE INDEX grants_revoked_at_idx ON grants (revoked_at) WHERE revoked_at IS NOT NULL;
      CREATE INDEX grants_look_again_at_idx ON grants (look_again_at);

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

      CREATE TABLE revoked_access_tokens (
        id text PRIMARY KEY,
        client_id text,
        -- Null for client credentials.
        user_id text,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX revoked_access_tokens_expires_at_idx ON revoked_access_tokens (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE revoked_access_tokens, authorization_codes, grants, token_keys;
    `);
  }
}

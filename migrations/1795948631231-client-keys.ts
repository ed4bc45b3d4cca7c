import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Clients that authenticate with keys instead of a secret, PKCE that a client requires, and how long its access tokens live. What is used
 * once and is no row of its own, such as the id of an assertion, is noted until it ends by itself.
 */
export class ClientKeys1795948631231 implements MigrationInterface {
  name = 'ClientKeys1795948631231';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients
        -- Null: a secret, and nothing for a public client.
        ADD COLUMN token_endpoint_auth_method text
          CHECK (token_endpoint_auth_method IN ('client_secret_basic', 'private_key_jwt', 'none')),
        ADD COLUMN jwks jsonb CHECK (length(jwks::text) <= 50000),
        ADD COLUMN jwks_uri text CHECK (length(jwks_uri) <= 2048),
        ADD COLUMN require_pkce boolean NOT NULL DEFAULT false,
        ADD COLUMN access_token_lifetime integer CHECK (access_token_lifetime BETWEEN 60 AND 36000);

      -- Not columns of the client, which instances remember: they would have to forget it whenever a key is used.
      CREATE TABLE client_key_uses (
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        -- The thumbprint of the key.
        digest bytea NOT NULL CHECK (octet_length(digest) = 32),
        last_used_at timestamptz NOT NULL,
        PRIMARY KEY (client_id, digest)
      ) WITH (fillfactor = 70);
      CREATE INDEX client_key_uses_last_used_at_idx ON client_key_uses (last_used_at);

      CREATE TABLE used_proofs (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX used_proofs_expires_at_idx ON used_proofs (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE used_proofs, client_key_uses;
      ALTER TABLE clients
        DROP COLUMN token_endpoint_auth_method, DROP COLUMN jwks, DROP COLUMN jwks_uri, DROP COLUMN require_pkce,
        DROP COLUMN access_token_lifetime;
    `);
  }
}

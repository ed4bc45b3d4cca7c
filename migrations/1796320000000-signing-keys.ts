import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Signatures that need no shared secret: which ones an endpoint gets, and the key pairs of clients. */
export class SigningKeys1796320000000 implements MigrationInterface {
  name = 'SigningKeys1796320000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_endpoints
        ADD COLUMN signature_versions text[] NOT NULL DEFAULT '{v1}'
          CHECK (signature_versions IN ('{v1}', '{v1a}', '{v1,v1a}'));

      CREATE TABLE webhook_signing_keys (
        -- The thumbprint of the public key.
        id text PRIMARY KEY CHECK (length(id) = 43),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        public_key bytea NOT NULL CHECK (octet_length(public_key) = 32),
        sealed bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        -- When another one took its place.
        retired_at timestamptz
      );
      CREATE UNIQUE INDEX webhook_signing_keys_client_id_idx ON webhook_signing_keys (client_id) WHERE retired_at IS NULL;
      CREATE INDEX webhook_signing_keys_retired_idx ON webhook_signing_keys (client_id, retired_at);
      CREATE INDEX webhook_signing_keys_retired_at_idx ON webhook_signing_keys (retired_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE webhook_signing_keys;
      ALTER TABLE webhook_endpoints DROP COLUMN signature_versions;
    `);
  }
}

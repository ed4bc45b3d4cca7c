import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Authorization requests that clients push (RFC 9126), and clients that have to. */
export class PushedRequests1795952759680 implements MigrationInterface {
  name = 'PushedRequests1795952759680';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE clients ADD COLUMN require_pushed_authorization_requests boolean NOT NULL DEFAULT false;

      CREATE TABLE pushed_requests (
        -- Of the secret part of the request_uri.
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        query text NOT NULL,
        opened boolean NOT NULL DEFAULT false,
        -- Of the form that decided it.
        decided_by bytea CHECK (octet_length(decided_by) = 32),
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX pushed_requests_client_id_idx ON pushed_requests (client_id);
      CREATE INDEX pushed_requests_expires_at_idx ON pushed_requests (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE pushed_requests;
      ALTER TABLE clients DROP COLUMN require_pushed_authorization_requests;
    `);
  }
}

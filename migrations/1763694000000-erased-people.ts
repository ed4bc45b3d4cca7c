import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What remains of deliveries when the user they concern is erased: the event without its payload and its user, and a mark on the
 * delivery, which an attempt that is under way finds when it ends. Until now they were deleted with the user, and with them the
 * `user.consent_revoked` event that informs the clients.
 */
export class ErasedPeople1763694000000 implements MigrationInterface {
  name = 'ErasedPeople1763694000000';
  /** The rows are validated while events are accepted; every step may run again. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS erased boolean NOT NULL DEFAULT false',
    );
    await queryRunner.query(`
      ALTER TABLE events
        ALTER COLUMN payload DROP NOT NULL,
        DROP CONSTRAINT events_user_id_fkey,
        ADD CONSTRAINT events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE SET NULL NOT VALID;
    `);
    await queryRunner.query('ALTER TABLE events VALIDATE CONSTRAINT events_user_id_fkey');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM events WHERE payload IS NULL;
      ALTER TABLE events
        ALTER COLUMN payload SET NOT NULL,
        DROP CONSTRAINT events_user_id_fkey,
        ADD CONSTRAINT events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
      ALTER TABLE deliveries DROP COLUMN erased;
    `);
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is left of deliveries when the person whom they are about is erased: the event without its payload and its user, and a mark on
 * the delivery, which an attempt that is under way at that moment finds when it ends. Until now they went with the person,
 * and with them the `user.consent_revoked` by which clients would have heard of it.
 */
export class ErasedPeople1763694000000 implements MigrationInterface {
  name = 'ErasedPeople1763694000000';
  /** The rows are checked while events are accepted; every step may be run again. */
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

import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addEventTypes } from './support/event-types.js';

/** Clients are told when a user asks for the deletion of the account, and when that is taken back (contract §13). */
export class AccountDeletionEvents1795658767673 implements MigrationInterface {
  name = 'AccountDeletionEvents1795658767673';

  async up(queryRunner: QueryRunner): Promise<void> {
    await addEventTypes(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      "DELETE FROM event_types WHERE name IN ('user.deletion_requested', 'user.deletion_cancelled')",
    );
  }
}

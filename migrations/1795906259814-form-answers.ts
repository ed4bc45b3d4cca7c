import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What posted forms were answered, for some seconds: a form that is posted twice, as by a double click, does once what it asks for. Without
 * a log, so that the answers, which may log a browser in, are in no archive, backup or replica; a crash empties the table.
 */
export class FormAnswers1795906259814 implements MigrationInterface {
  name = 'FormAnswers1795906259814';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE UNLOGGED TABLE form_answers (
        digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
        -- Of the request that handles the form: another may have taken over.
        attempt bytea NOT NULL,
        -- Null as long as the form is handled.
        sealed_answer bytea,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX form_answers_expires_at_idx ON form_answers (expires_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE form_answers');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

import { EVENT_TYPE_TRANSLATIONS } from './event-types.js';

/** The language of a person, the words of event types in the languages of drivers, and what notifications say as messages, so that each reader gets them in another language. */
export class Languages1795660000001 implements MigrationInterface {
  name = 'Languages1795660000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- In which mail is written; null as long as nobody has said.
      ALTER TABLE users ADD COLUMN language text;
      -- By the name of the text, the English message and its values; null for what an operator wrote.
      ALTER TABLE notifications ADD COLUMN messages jsonb;
      ALTER TABLE event_types ADD COLUMN translations jsonb NOT NULL DEFAULT '{}';
    `);
    for (const [name, translations] of Object.entries(EVENT_TYPE_TRANSLATIONS)) {
      await queryRunner.query('UPDATE event_types SET translations = $2 WHERE name = $1', [
        name,
        JSON.stringify(translations),
      ]);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE event_types DROP COLUMN translations;
      ALTER TABLE notifications DROP COLUMN messages;
      ALTER TABLE users DROP COLUMN language;
    `);
  }
}

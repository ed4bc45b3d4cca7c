import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The migrations that change two tables in one transaction, from before each step was to keep one from others. What reads both in the
 * other order, as a refresh of the release before does, could lose a deadlock with them.
 */
const OF_TWO_TABLES: ReadonlySet<string> = new Set([
  'SecurityProfiles1796010000000',
  'SigningKeys1796320000000',
]);

/** The migration, whose statements are transactions of their own, if it is one of these; they can be repeated after a run that was killed. */
export function tableByTable(migration: MigrationInterface): MigrationInterface {
  if (!OF_TWO_TABLES.has(migration.name ?? '')) return migration;
  const apart = (queryRunner: QueryRunner): QueryRunner =>
    Object.assign(Object.create(queryRunner) as QueryRunner, {
      query: async (text: string) => {
        let result: unknown;
        for (const statement of statementsOf(text)) result = await queryRunner.query(statement);
        return result;
      },
    });
  return {
    name: migration.name,
    transaction: false,
    up: (queryRunner) => migration.up(apart(queryRunner)),
    down: (queryRunner) => migration.down(apart(queryRunner)),
  };
}

const statementsOf = (text: string): string[] =>
  text
    .replace(/--.*$/gm, '')
    .split(';')
    .filter((statement) => statement.trim() !== '')
    .map((statement) =>
      statement
        .replace(/\b(ADD COLUMN|CREATE TABLE|CREATE( UNIQUE)? INDEX)\b(?! IF)/g, '$& IF NOT EXISTS')
        .replace(/\bDROP (COLUMN|TABLE)\b(?! IF)/g, '$& IF EXISTS'),
    );

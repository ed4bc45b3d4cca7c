import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The migrations whose functions name the schema `public`, from before the tables could be in another one. Others find everything by
 * the `search_path` of their connection, which is that one schema; a function takes it with `SET search_path FROM CURRENT`.
 */
export const NAME_PUBLIC: ReadonlySet<string> = new Set([
  'Partitions1764000000012',
  'AuditLog1764000000013',
  'ConsentRecords1795645377802',
  'RequestRecords1795653600000',
]);

/** The migration for tables in this schema, whose name is quoted if need be. */
export function inSchema(migration: MigrationInterface, schema: string): MigrationInterface {
  if (schema === 'public' || !NAME_PUBLIC.has(migration.name ?? '')) return migration;
  const named = (queryRunner: QueryRunner): QueryRunner =>
    Object.assign(Object.create(queryRunner) as QueryRunner, {
      query: (statement: string) => queryRunner.query(inPlaceOfPublic(statement, schema)),
    });
  return {
    name: migration.name,
    up: (queryRunner) => migration.up(named(queryRunner)),
    down: (queryRunner) => migration.down(named(queryRunner)),
  };
}

/** A name is followed by what it contains, or stands in a search_path. */
export const inPlaceOfPublic = (statement: string, schema: string): string =>
  statement.replace(/\bpublic(?=\.|, pg_temp)/g, () => schema);

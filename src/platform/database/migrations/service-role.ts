import { escapeIdentifier } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { SettingsError } from '#platform/config/process-environment.js';

/** Tables that the service only reads, and only the owner of the schema writes. */
const READ_ONLY = ['migrations', 'required_migrations'];
/** Tables that the service only inserts into: rows are removed by the functions below, by age or with an erased user. */
const APPEND_ONLY = ['audit_events', 'consent_versions', 'consent_words'];
/** They run with the owner's privileges. */
const FUNCTIONS = [
  'forget_in_audit_events(text)',
  'adopt_restored_audit_events()',
  'purge_consent_versions(timestamptz, integer)',
  'turn_audit_events(integer)',
  'turn_request_records(integer, integer)',
];

/**
 * Grants a role what the service needs, and revokes what it must not do: change the schema or the audit log. Tables of later
 * migrations are accessible to the role from the start. Run by the owner of the schema; safe to run again.
 */
export async function grantServiceRole(dataSource: DataSource, role: string): Promise<void> {
  const name = escapeIdentifier(role);
  await dataSource.transaction(async (manager) => {
    const [found]: { powerful: boolean; schema: string }[] = await manager.query(
      `SELECT rolsuper OR rolbypassrls OR rolreplication OR pg_has_role(oid, current_user, 'MEMBER') AS powerful,
              quote_ident(current_schema()) AS schema
         FROM pg_roles WHERE rolname = $1`,
      [role],
    );
    if (!found) throw new SettingsError(`There is no role ${role} in the database.`);
    if (found.powerful) {
      throw new SettingsError(
        `The role ${role} has too many privileges: it is a superuser, or it has the privileges of the role that migrates.`,
      );
    }
    await manager.query(`
      GRANT USAGE ON SCHEMA ${found.schema} TO ${name};
      ALTER DEFAULT PRIVILEGES IN SCHEMA ${found.schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${name};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${found.schema} TO ${name};
    `);
    for (const table of await those(manager, 'to_regclass', READ_ONLY))
      await manager.query(`REVOKE INSERT, UPDATE, DELETE ON ${table} FROM ${name}`);
    for (const table of await those(manager, 'to_regclass', APPEND_ONLY))
      await manager.query(`REVOKE UPDATE, DELETE ON ${table} FROM ${name}`);
    for (const each of await those(manager, 'to_regprocedure', FUNCTIONS))
      await manager.query(`GRANT EXECUTE ON FUNCTION ${each} TO ${name}`);
  });
}

/** Those of the names that exist: before the first migration none do. */
async function those(
  manager: EntityManager,
  finder: 'to_regclass' | 'to_regprocedure',
  names: string[],
): Promise<string[]> {
  const rows: { name: string }[] = await manager.query(
    `SELECT name FROM unnest($1::text[]) name WHERE ${finder}(name) IS NOT NULL`,
    [names],
  );
  return rows.map(({ name }) => name);
}

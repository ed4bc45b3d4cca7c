import type pg from 'pg';

/** Settings of a connection by their names, with values as PostgreSQL shows them. */
export type Session = Readonly<Record<string, string>>;

/**
 * What the code relies on, whatever the server, the database, the role or the URL say. Every connection has it, unless it says
 * otherwise itself. A setting that the server does not know is left out.
 */
const PINNED: Session = {
  // How values are written and read.
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  // A day of an interval is one of this zone: where clocks change, it has 23 or 25 hours, while instances count 24.
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  // What statements mean.
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  gin_fuzzy_search_limit: '0',
  // What a transaction sees. Locks and guarded writes are made for this.
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // Triggers tell instances of changes and protect records. Only a superuser may change this: otherwise the connection fails.
  session_replication_role: 'origin',
  // Connections wait for notifications and hold locks as long as they must; those of the service have limits of their own.
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
};

/**
 * Sets what differs, in one round trip. By statement rather than with the start of the connection, because PgBouncer refuses or
 * ignores parameters that come with it.
 *
 * Tables are found in one schema: where the role's `search_path` finds them, or else the only one that has them, or else the first of
 * the path, where they will be. So nothing that is made later can come before them. `pg_trgm` may be in another one.
 *
 * `synchronous_commit = off` is not accepted, since what was acknowledged would be lost with the server; whether standbys have it
 * too is the administrator's choice.
 */
export const PIN_SESSION = `
  SELECT pg_catalog.set_config(name, value, false) FROM pg_catalog.json_each_text($1) AS wanted (name, value)
   WHERE pg_catalog.current_setting(name, true) <> value
  UNION ALL
  SELECT pg_catalog.set_config('synchronous_commit', 'on', false) WHERE pg_catalog.current_setting('synchronous_commit') = 'off'
  UNION ALL
  SELECT pg_catalog.set_config('search_path', concat_ws(', ', quote_ident(s.nspname), quote_ident(e.nspname)), false)
    FROM (SELECT coalesce(
            (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('required_migrations')),
            (SELECT min(relnamespace) FROM pg_class
              WHERE relname = 'required_migrations' AND relkind = 'r' AND has_schema_privilege(relnamespace, 'USAGE')
             HAVING count(*) = 1),
            to_regnamespace(quote_ident(current_schema()))) AS oid) tables
    LEFT JOIN pg_namespace s USING (oid)
    LEFT JOIN (pg_extension JOIN pg_namespace e ON e.oid = extnamespace) ON extname = 'pg_trgm' AND extnamespace <> s.oid`;

/** Gives a connection the settings that the code relies on, and those of its own. */
export async function pinSession(connection: pg.Client, own: Session): Promise<void> {
  await connection.query({ text: PIN_SESSION, values: [JSON.stringify({ ...PINNED, ...own })] });
}

const SCHEMAS = { floor: 'floor', ours: 'public' };

/** The size of a side's tables and of the WAL written so far: rows, bytes with indexes, bytes of WAL. */
export async function sizes({ query }, side) {
  const tables = await query('SELECT tablename AS name FROM pg_tables WHERE schemaname = $1', [
    SCHEMAS[side],
  ]);
  const names = tables.map(({ name }) => `"${SCHEMAS[side]}"."${name}"`);
  const [found] = await query(
    `SELECT (${names.map((name) => `(SELECT count(*) FROM ${name})`).join(' + ')})::float8 AS rows,
            (${names.map((name) => `pg_total_relation_size('${name}')`).join(' + ')})::float8 AS bytes,
            pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal`,
  );
  return found;
}

/** The growth per million requests. */
export function growth(before, after, requests) {
  const added = (what) => ((after[what] - before[what]) / requests) * 1e6;
  return { rows: added('rows'), megabytes: added('bytes') / 1e6, walMegabytes: added('wal') / 1e6 };
}

import type { WithDatabase } from './tokens.js';

interface Column {
  table: string;
  column: string;
  type: string;
}

/** Every column of every table of the service. */
const columnsOf = ({ database }: WithDatabase): Promise<Column[]> =>
  database.query<Column>(
    `SELECT c.table_name AS "table", c.column_name AS "column", c.data_type AS type
       FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY 1, 2`,
  );

/**
 * The columns, of all tables, with a value that contains one of the texts in any letter case: text, JSON, arrays and whatever else can be
 * written as text, and bytes that are text in UTF-8 or Latin-1.
 */
export async function columnsThatHold(service: WithDatabase, texts: string[]): Promise<string[]> {
  const lowered = texts.map((text) => text.toLowerCase());
  const holds = (value: string | Buffer | null | undefined): boolean => {
    if (value === null || value === undefined) return false;
    const written = Buffer.isBuffer(value) ? [value.toString('utf8'), value.toString('latin1')] : [value];
    return written.some((each) => lowered.some((text) => each.toLowerCase().includes(text)));
  };
  const all = await columnsOf(service);
  const found: string[] = [];
  for (const table of new Set(all.map((each) => each.table))) {
    const columns = all.filter((each) => each.table === table);
    const values = columns.map(({ column, type }) =>
      type === 'bytea' ? `"${column}"` : `"${column}"::text AS "${column}"`,
    );
    const rows = await service.database.query<Record<string, string | Buffer | null>>(
      `SELECT ${values.join(', ')} FROM "${table}"`,
    );
    for (const { column } of columns)
      if (rows.some((row) => holds(row[column]))) found.push(`${table}.${column}`);
  }
  return found;
}

/** Every sealed value of the database, which cannot be searched: the columns of bytes that are no digests, with their values as text. */
export async function sealedValues(service: WithDatabase): Promise<Map<string, Set<string>>> {
  const columns = (await columnsOf(service)).filter(
    ({ type, column }) => type === 'bytea' && !column.includes('digest'),
  );
  const values = new Map<string, Set<string>>();
  for (const { table, column } of columns) {
    const rows = await service.database.query<{ value: Buffer }>(
      `SELECT "${column}" AS value FROM "${table}" WHERE "${column}" IS NOT NULL`,
    );
    values.set(`${table}.${column}`, new Set(rows.map(({ value }) => value.toString('base64'))));
  }
  return values;
}

import type { WithDatabase } from './tokens.js';

/** The tables with a row that contains the text, in any letter case. */
export async function tablesThatHold({ database }: WithDatabase, text: string): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query(
      `SELECT 1 FROM "${name}" AS t WHERE lower(t::text) LIKE '%' || lower($1) || '%' LIMIT 1`,
      [text],
    );
    if (rows.length > 0) found.push(name);
  }
  return found.sort();
}

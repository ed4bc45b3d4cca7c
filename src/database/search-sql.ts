/** A condition: one of the columns contains the text, case-insensitively, or `id` equals the text. */
export function searchSql(params: unknown[], text: string, columns: string[]): string {
  const pattern = `$${params.push(`%${text.replace(/[\\%_]/g, '\\$&')}%`)}`;
  const id = `$${params.push(text)}`;
  return `(${columns.map((column) => `${column} ILIKE ${pattern}`).join(' OR ')} OR id = ${id})`;
}

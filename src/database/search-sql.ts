/** A condition: one of the columns contains the text, case-insensitively, or `id` equals the text. */
export function searchSql(params: unknown[], text: string, columns: string[]): string {
  const pattern = `$${params.push(patternOf(text))}`;
  const id = `$${params.push(text)}`;
  return `(${columns.map((column) => `${column} ILIKE ${pattern}`).join(' OR ')} OR id = ${id})`;
}

/** The same for a query builder: the arguments of its `where`. */
export function searchFor(text: string, alias: string, columns: string[]): [string, Record<string, string>] {
  const conditions = columns.map((column) => `${alias}.${column} ILIKE :searchPattern`);
  return [
    `(${conditions.join(' OR ')} OR ${alias}.id = :searchId)`,
    { searchPattern: patternOf(text), searchId: text },
  ];
}

const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

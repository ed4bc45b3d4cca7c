/**
 * A condition as the arguments of a query builder's `where`: one of the columns contains the text, case-insensitively, or `id` equals
 * the text.
 */
export function searchFor(text: string, alias: string, columns: string[]): [string, Record<string, string>] {
  const conditions = columns.map((column) => `${alias}.${column} ILIKE :searchPattern`);
  return [
    `(${conditions.join(' OR ')} OR ${alias}.id = :searchId)`,
    { searchPattern: patternOf(text), searchId: text },
  ];
}

/** A pattern of ILIKE for what contains the text. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

import type { ObjectLiteral, Repository } from 'typeorm';

/** The columns of these members, under the members' names: what a statement in SQL selects of a table with this alias. */
export const columnList = <E extends ObjectLiteral>(
  { metadata }: Repository<E>,
  alias: string,
  members: readonly (keyof E & string)[],
): string =>
  members
    .map((member) => `${alias}.${metadata.findColumnWithPropertyName(member)!.databaseName} AS "${member}"`)
    .join(', ');

/** A row in two parts: these members, and the others. */
export function splitRow<R extends object, K extends keyof R & string>(
  row: R,
  members: readonly K[],
): [Pick<R, K>, Omit<R, K>] {
  const entries = Object.entries(row);
  const isOne = ([name]: [string, unknown]) => (members as readonly string[]).includes(name);
  return [
    Object.fromEntries(entries.filter(isOne)) as Pick<R, K>,
    Object.fromEntries(entries.filter((entry) => !isOne(entry))) as Omit<R, K>,
  ];
}

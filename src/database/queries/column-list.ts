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

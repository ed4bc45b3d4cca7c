import { arrayParameter } from './statements.js';
import type { ObjectLiteral, Repository } from 'typeorm';

/** A value of a JSON column as it comes back from the database, but for the order of members; undefined stays. */
export const asStoredJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

type ColumnType = 'bigint' | 'boolean' | 'bytea' | 'float8' | 'int' | 'jsonb' | 'text' | 'timestamptz';

/** A name as the database and the API write it. */
export const snakeCase = (member: string): string =>
  member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Items as rows of a statement, whose first parameters they are: `FROM unnest(${rows.arrays}) AS i (${rows.columns})`. The columns have
 * the members' names in snake case.
 */
export class InputRows<Item> {
  readonly columns: string;
  /** The arguments of `unnest`. */
  readonly arrays: string;
  private readonly members: (keyof Item)[];

  /** With the members of each type; `parameterOf` is `arrayParameter` for frequently used statements. */
  constructor(
    types: { [Type in ColumnType]?: (keyof Item & string)[] },
    parameterOf: typeof arrayParameter = (n, type) => `$${n}::${type}[]`,
  ) {
    const members = Object.entries(types).flatMap(([type, ofType]) =>
      ofType.map((member) => ({ member, type })),
    );
    this.members = members.map(({ member }) => member);
    this.columns = members.map(({ member }) => snakeCase(member)).join(', ');
    this.arrays = members.map(({ type }, n) => parameterOf(n + 1, type)).join(', ');
  }

  parameters(items: readonly Item[]): unknown[][] {
    return this.members.map((member) => items.map((item) => item[member]));
  }
}

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

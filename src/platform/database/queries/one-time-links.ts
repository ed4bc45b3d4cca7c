import type { ObjectLiteral, Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';

/** The columns that make a row a one-time link. */
interface Columns<Row> {
  /** Of the key in the link. */
  digest: keyof Row & string;
  expiresAt: keyof Row & string;
  /** Set when the link is used; without one, its row is deleted. */
  usedAt?: keyof Row & string;
  /** What else is set then. */
  alsoSet?: QueryDeepPartialEntity<Row>;
}

/** A time this many seconds from now, by the database's clock. */
export const secondsFromNow = (seconds: number) => () =>
  `now() + make_interval(secs => ${Math.trunc(seconds)})`;

/** Rows that are links, which work until they expire and only once: using one is a single guarded statement. */
export class OneTimeLinks<Row extends ObjectLiteral> {
  constructor(
    private readonly rows: Repository<Row>,
    private readonly columns: Columns<Row>,
  ) {}

  /** A link that works, with these values. */
  async find(digest: Buffer, values: Partial<Row> = {}): Promise<Row | undefined> {
    const query = this.rows.createQueryBuilder('link');
    return (await query.where(this.works(values, 'link.'), { ...values, digest }).getOne()) ?? undefined;
  }

  /** Uses it up; undefined if it does not work, or no longer. */
  async use(digest: Buffer, values: Partial<Row> = {}): Promise<Row | undefined> {
    const { usedAt, alsoSet } = this.columns;
    const query = this.rows.createQueryBuilder();
    const change = usedAt
      ? query.update().set({ [usedAt]: () => 'now()', ...alsoSet } as QueryDeepPartialEntity<Row>)
      : query.delete();
    const { raw } = await change
      .where(this.works(values), { ...values, digest })
      .returning('*')
      .execute();
    const [row] = raw as Record<string, unknown>[];
    const { columns } = this.rows.metadata;
    return (
      row &&
      (Object.fromEntries(
        columns.map(({ propertyName, databaseName }) => [propertyName, row[databaseName]]),
      ) as Row)
    );
  }

  private works(values: Partial<Row>, alias = ''): string {
    const { digest, expiresAt, usedAt } = this.columns;
    return [
      `${alias}${digest} = :digest AND ${alias}${expiresAt} > now()`,
      ...(usedAt ? [`${alias}${usedAt} IS NULL`] : []),
      ...Object.keys(values).map((name) => `${alias}${name} = :${name}`),
    ].join(' AND ');
  }
}

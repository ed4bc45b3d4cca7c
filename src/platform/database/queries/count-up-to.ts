import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/** How many rows the query finds, counted up to a limit. */
export async function countUpTo(limit: number, query: SelectQueryBuilder<ObjectLiteral>): Promise<number> {
  const counted = await query
    .createQueryBuilder()
    .select('count(*)::int', 'count')
    .from(`(${query.select('1').limit(limit).getQuery()})`, 'found')
    .setParameters(query.getParameters())
    .getRawOne<{ count: number }>();
  return counted!.count;
}

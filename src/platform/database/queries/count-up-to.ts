import type { EntityManager, ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/** How many rows the query finds, counted up to a limit. */
export async function countUpTo(
  limit: number,
  manager: EntityManager,
  query: SelectQueryBuilder<ObjectLiteral>,
): Promise<number> {
  const counted = await manager
    .createQueryBuilder()
    .select('count(*)::int', 'count')
    .from(`(${query.select('1').limit(limit).getQuery()})`, 'found')
    .setParameters(query.getParameters())
    .getRawOne<{ count: number }>();
  return counted!.count;
}

import type { EntityManager, ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';

/** Builds a query of the repository that runs in the manager's transaction. */
export const queryIn = <Entity extends ObjectLiteral>(
  manager: EntityManager,
  repository: Repository<Entity>,
  alias?: string,
): SelectQueryBuilder<Entity> => manager.withRepository(repository).createQueryBuilder(alias);

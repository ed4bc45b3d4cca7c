import { DataSource, type EntityManager, type QueryRunner, type ReplicationMode } from 'typeorm';
import { againIfLost } from '../queries/database-errors.js';
import { asPart, inTransaction, runnerAround } from '../queries/transaction-around.js';

type Work<T> = (manager: EntityManager) => Promise<T>;
type Isolation = Exclude<Parameters<DataSource['transaction']>[0], Work<unknown>>;

/**
 * A data source whose transactions and single statements are run again when they lost to another transaction. A transaction is around
 * the work that it runs: everything that asks this data source, its manager or a repository joins it, also an inner transaction.
 */
export class RetryingDataSource extends DataSource {
  override createEntityManager(runner?: QueryRunner): EntityManager {
    const manager = super.createEntityManager(runner);
    // The one that repositories ask.
    if (!runner) Object.defineProperty(manager, 'queryRunner', { get: () => runnerAround(this) });
    return manager;
  }

  override createQueryRunner(mode?: ReplicationMode): QueryRunner {
    const runner = super.createQueryRunner(mode);
    const query = runner.query.bind(runner) as (...statement: unknown[]) => Promise<unknown>;
    // A statement of a transaction is lost with all that came before it.
    const again = (...statement: unknown[]) =>
      runner.isTransactionActive
        ? asPart(runner, () => query(...statement))
        : againIfLost(() => query(...statement));
    return Object.assign(runner, { query: again });
  }

  override async query<T>(...of: Parameters<DataSource['query']>): Promise<T> {
    const [sql, parameters, runner = runnerAround(this)] = of;
    return super.query<T>(sql, parameters, runner);
  }

  override transaction<T>(work: Work<T>): Promise<T>;
  override transaction<T>(isolation: Isolation, work: Work<T>): Promise<T>;
  override async transaction<T>(...of: [Work<T>] | [Isolation, Work<T>]): Promise<T> {
    const [isolation, work] = of.length === 1 ? [undefined, of[0]] : of;
    const outer = runnerAround(this);
    if (outer) return work(outer.manager);
    const begun: Work<T> = (manager) => inTransaction(manager.queryRunner!, () => work(manager));
    return againIfLost(() => (isolation ? super.transaction(isolation, begun) : super.transaction(begun)));
  }
}

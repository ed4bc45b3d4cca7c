import { DataSource, type EntityManager, type QueryRunner, type ReplicationMode } from 'typeorm';
import { againIfLost } from '../queries/lost-races.js';

type Work<T> = (manager: EntityManager) => Promise<T>;
type Isolation = Exclude<Parameters<DataSource['transaction']>[0], Work<unknown>>;

/** A data source whose transactions and single statements are run again when they lost to another transaction. */
export class RetryingDataSource extends DataSource {
  override createQueryRunner(mode?: ReplicationMode): QueryRunner {
    const runner = super.createQueryRunner(mode);
    const query = runner.query.bind(runner) as (...statement: unknown[]) => Promise<unknown>;
    // A statement of a transaction is lost with all that came before it.
    const again = (...statement: unknown[]) =>
      runner.isTransactionActive ? query(...statement) : againIfLost(() => query(...statement));
    return Object.assign(runner, { query: again });
  }

  override transaction<T>(work: Work<T>): Promise<T>;
  override transaction<T>(isolation: Isolation, work: Work<T>): Promise<T>;
  override transaction<T>(...of: [Work<T>] | [Isolation, Work<T>]): Promise<T> {
    return againIfLost(() => (of.length === 1 ? super.transaction(of[0]) : super.transaction(of[0], of[1])));
  }
}

/** Rows of one table (`t`) that can be purged. */
export interface PurgeTask {
  table: string;
  /** The indexed column by which the rows are found, oldest first. */
  by: string;
  /** Rows with an earlier value can be purged: `now()` if not given; `$2` is the retention in days. */
  before?: string;
  /** An additional condition. */
  condition?: string;
  /** A database function that removes the rows instead, given a start time and a maximum number (returns `count` and `last`). */
  function?: string;
  /**
   * For a table with a partition per day or month: a call of the database function that creates future partitions and drops old
   * ones (returns roughly how many rows were dropped).
   */
  partitions?: string;
}

/** Runs before anything is deleted: changes up to `limit` rows and returns their number. */
export interface PurgePreparation {
  table: string;
  runBatch(retentionDays: number, limit: number): Promise<number>;
}

/** For rows that are kept for the retention time after their end. */
export const RETENTION = 'now() - make_interval(days => $2)';

// Expired rows, rows that are kept for a while after their end, and rows that only a function may delete.
const phaseOf = (task: PurgeTask): number => (task.function ? 2 : task.before ? 1 : 0);

/** All tasks, phase by phase. The order within a phase does not matter. */
export const inOrder = (tasks: readonly PurgeTask[]): PurgeTask[] =>
  tasks.toSorted((one, other) => phaseOf(one) - phaseOf(other));

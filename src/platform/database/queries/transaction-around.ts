import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, QueryRunner } from 'typeorm';

/** A transaction that work runs in, with everything that the work calls. */
interface Around {
  dataSource: DataSource;
  runner: QueryRunner;
  /** How many statements are not answered yet, and when the last of them is: they are sent one after another. */
  underWay: number;
  last: Promise<unknown>;
  isOver: boolean;
}

const around = new AsyncLocalStorage<Around | undefined>();
// Before Node 24, every promise of the process costs more as long as anything may be around (docs/decisions/0038).
const isCostly = Number.parseInt(process.versions.node) < 24;
let open = 0;

/** The code uses a transaction in a way that would lose what it promises. */
class TransactionMisuse extends Error {
  override name = 'TransactionMisuse';
}

/** Throws for what a transaction has started and not awaited: it can no longer be part of it. */
function refuseLate({ isOver }: Around): void {
  if (!isOver) return;
  throw new TransactionMisuse(
    'A statement comes after the end of the transaction that it was started in. Await it there, or start it in outsideTransaction().',
  );
}

/** The transaction that is around, if it is one of these. */
function aroundIf(isOne: (transaction: Around) => boolean): Around | undefined {
  const found = around.getStore();
  if (!found || !isOne(found)) return undefined;
  refuseLate(found);
  return found;
}

/** The connection of this data source's transaction that is around; undefined outside of any. */
export const runnerAround = (dataSource: DataSource): QueryRunner | undefined =>
  aroundIf((transaction) => transaction.dataSource === dataSource)?.runner;

/** Whether a transaction is around. */
export const isInTransaction = (): boolean => aroundIf(() => true) !== undefined;

/** Throws outside of any transaction; `what` begins the message. For what must agree with other changes, and for locks that should last. */
export function requireTransaction(what: string): void {
  if (!isInTransaction()) throw new TransactionMisuse(`${what} must be part of a transaction.`);
}

/** Runs work in a transaction that has begun on this connection; the caller ends it afterwards. */
export async function inTransaction<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  const transaction: Around = {
    ...{ dataSource: runner.dataSource, runner },
    ...{ underWay: 0, last: Promise.resolve(), isOver: false },
  };
  open++;
  try {
    const result = await around.run(transaction, work);
    if (transaction.underWay > 0) {
      throw new TransactionMisuse('A statement is under way at the end of its transaction. Await it there.');
    }
    return result;
  } finally {
    transaction.isOver = true;
    await transaction.last;
    if (--open === 0 && isCostly) around.disable();
  }
}

/** Runs a statement on the connection of a transaction, after those before it. */
export async function asPart<T>(runner: QueryRunner, statement: () => Promise<T>): Promise<T> {
  const transaction = aroundIf((one) => one.runner === runner);
  // It begins or ends.
  if (!transaction) return statement();
  const answered = transaction.last.then(() => {
    refuseLate(transaction);
    return statement();
  });
  transaction.last = answered.catch(() => undefined);
  transaction.underWay++;
  try {
    return await answered;
  } finally {
    transaction.underWay--;
  }
}

/** Throws inside of a transaction of such a data source: what asks for another connection would not be part of it. */
export function refuseAnotherConnection(isOf: (dataSource: DataSource) => boolean): void {
  if (aroundIf(({ dataSource }) => isOf(dataSource))) {
    throw new TransactionMisuse(
      'A statement inside of a transaction asks for a connection of its own. Send it before, or in outsideTransaction().',
    );
  }
}

/** Throws inside of a transaction, for what is done together with that of other callers; `what` begins the message. */
export function refuseInTransaction(what: string): void {
  if (isInTransaction()) {
    throw new TransactionMisuse(
      `${what} cannot be part of a transaction. Ask for it before, or in outsideTransaction().`,
    );
  }
}

/**
 * Runs work apart from the transaction that is around, if any: its statements have connections and commits of their own, and do not
 * see what the transaction has changed. For what callers share, and for what goes on after the transaction.
 */
export const outsideTransaction = <T>(work: () => T): T =>
  around.getStore() ? around.run(undefined, work) : work();

import pg from 'pg';
import type { DataSource } from 'typeorm';
import { refuseAnotherConnection } from '../queries/transaction-around.js';

type Callback = Parameters<pg.Pool['connect']>[0];

/** That of a data source; the types of TypeORM do not know the driver's pool. */
export const sharedPoolOf = ({ driver }: DataSource): SharedPool =>
  (driver as unknown as { master: SharedPool }).master;

/** Somebody who waits for one of the connections that pages share. */
interface Waiter {
  begin: () => void;
  timer: NodeJS.Timeout | undefined;
}

/** How many of the connections pages and background work leave to tokens and bearer requests: a quarter of them. */
export const keptFree = (size: number): number => Math.floor(size / 4);

export interface SharedPool extends pg.Pool {
  /** How many wait for a connection. */
  readonly waiting: number;
  /** Runs one of the statements that tokens and bearer requests wait for. */
  queryFirst<Row extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}

/**
 * The driver's pool, of which everything but tokens and bearer requests takes three quarters at most: however many pages wait for the
 * database, no token waits for them. `isFirst` tells whether what asks for a connection at this moment may take any; `isStatement`:
 * whether it is for one of their statements.
 */
export function sharedPool(
  isFirst: (isStatement: boolean) => boolean,
): new (options?: pg.PoolConfig) => SharedPool {
  return class extends pg.Pool implements SharedPool {
    private isStatement = false;
    private readonly waiters: Waiter[] = [];
    private readonly ofOthers = new WeakSet<pg.PoolClient>();
    private taken = 0;

    constructor(options?: pg.PoolConfig) {
      super(options);
      this.on('release', (_error: Error, client) => {
        if (this.ofOthers.delete(client)) this.giveBack();
      });
    }

    get waiting(): number {
      return this.waitingCount + this.waiters.length;
    }

    override connect(): Promise<pg.PoolClient>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<pg.PoolClient> | void {
      if (callback === undefined) {
        return new Promise((resolve, reject) =>
          this.connect((error, client) => (error ? reject(error) : resolve(client!))),
        );
      }
      refuseAnotherConnection((dataSource) => sharedPoolOf(dataSource) === this);
      if (isFirst(this.isStatement) || this.ending) return super.connect(callback);
      const begin = () => this.connectOther(callback);
      if (this.taken < this.options.max - keptFree(this.options.max)) return begin();
      const waiter: Waiter = { begin, timer: undefined };
      const { connectionTimeoutMillis } = this.options;
      if (connectionTimeoutMillis) {
        waiter.timer = setTimeout(() => {
          this.waiters.splice(this.waiters.indexOf(waiter), 1);
          // As the driver's pool does.
          callback(new Error('timeout exceeded when trying to connect'), undefined, () => undefined);
        }, connectionTimeoutMillis).unref();
      }
      this.waiters.push(waiter);
    }

    queryFirst<Row extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
      // The driver's pool asks for the connection at once.
      this.isStatement = true;
      try {
        return this.query<Row>(config);
      } finally {
        this.isStatement = false;
      }
    }

    private connectOther(callback: Callback): void {
      this.taken++;
      super.connect((error, client, done) => {
        if (client) this.ofOthers.add(client);
        else this.giveBack();
        callback(error, client, done);
      });
    }

    private giveBack(): void {
      this.taken--;
      const next = this.waiters.shift();
      if (!next) return;
      clearTimeout(next.timer);
      next.begin();
    }
  };
}

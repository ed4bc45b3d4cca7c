import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { newConnection } from '../connections/connections.js';
import type { Session } from '../connections/session.js';
import { proveSessionMode, SessionLostError } from '../connections/session-mode.js';

// Any number not used otherwise in this database: the first eight bytes of "charging" as an integer.
const LOCK = 7_163_106_617_430_109_543n;
const ASK_EVERY_MS = 100;
const TELL_AFTER_MS = 5_000;
const PROVEN_WITHIN_MS = 10_000;
const DEFAULT_WAIT_SECONDS = 600;
// A proxy closes a connection that is silent for too long, and with it goes the lock.
const SPEAK_EVERY_MS = 30_000;

// Through a network that forgets idle connections, and so that the server notices within a minute that this process is gone: a
// lock of a lost machine would otherwise be held for two hours.
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
export const KEEP_ALIVE_OF_SERVER: Session = {
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
};

/** Why the lock of the migrations cannot be taken; the message names the setting. */
export class MigrationLockError extends Error {}

export interface LockWait {
  /** How long to wait for another holder. */
  waitSeconds?: number;
  /** Called after five seconds with the holder of the lock. */
  say?: (line: string) => void;
}

/**
 * Runs `work` under the lock of the migrations. It belongs to a session, so a pooler in transaction mode, where it would stay behind,
 * is refused before it is taken. Throws a MigrationLockError then, when the wait is over, and when the lock is lost: the caller then
 * ends the process, because nothing else ends what `work` has begun.
 */
export async function underMigrationLock<T>(
  url: string,
  work: () => Promise<T>,
  { waitSeconds = DEFAULT_WAIT_SECONDS, say = () => undefined }: LockWait = {},
): Promise<T> {
  const connection = connectionOf(url);
  await connection.connect();
  try {
    await prove(connection, connectionOf(url));
    await take(connection, waitSeconds, say);
    try {
      return await whileHeld(connection, work);
    } finally {
      await giveBack(connection);
    }
  } finally {
    await connection.end();
  }
}

const connectionOf = (url: string): pg.Client =>
  newConnection(
    url,
    { application_name: 'charging-data-service migrations', ...KEEP_ALIVE },
    KEEP_ALIVE_OF_SERVER,
  );

/** Throws a MigrationLockError behind a pooler in transaction mode. */
export async function requireSessionMode(url: string): Promise<void> {
  const connection = connectionOf(url);
  await connection.connect();
  try {
    await prove(connection, connectionOf(url));
  } finally {
    await connection.end();
  }
}

async function prove(connection: pg.Client, announcer: pg.Client): Promise<void> {
  try {
    await proveSessionMode(connection, announcer, PROVEN_WITHIN_MS);
  } catch (error) {
    if (error instanceof SessionLostError) throw new MigrationLockError(`DATABASE_URL: ${error.message}`);
    throw error;
  }
}

/**
 * The lock is polled instead of waited for: a waiting statement is a transaction, and an index built concurrently under the lock
 * would wait for that transaction to end.
 */
async function take(connection: pg.Client, waitSeconds: number, say: (line: string) => void): Promise<void> {
  let [isLong, isOver] = [false, false];
  const timers = [
    setTimeout(() => (isLong = true), TELL_AFTER_MS),
    setTimeout(() => (isOver = true), waitSeconds * 1000),
  ];
  let toldOf: number | undefined;
  try {
    while (!(await tryToTake(connection))) {
      if (isLong || isOver) {
        const holder = await findHolder(connection);
        if (isOver) {
          throw new MigrationLockError(
            `MIGRATION_WAIT_SECONDS: waited for ${waitSeconds} s for the lock of the migrations, held by ${nameOf(holder)}`,
          );
        }
        if (holder && holder.pid !== toldOf) {
          say(`Waiting up to ${waitSeconds} s for the lock of the migrations, held by ${nameOf(holder)}`);
          toldOf = holder.pid;
        }
      }
      await pause(ASK_EVERY_MS);
    }
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

async function tryToTake(connection: pg.Client): Promise<boolean> {
  const { rows } = await connection.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [
    LOCK.toString(),
  ]);
  return rows[0]!.held;
}

async function whileHeld<T>(connection: pg.Client, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const lost = new Promise<never>((_, reject) => {
    const giveUp = ({ message }: Error) =>
      reject(new MigrationLockError(`DATABASE_URL: the lock of the migrations was lost: ${message}`));
    connection.once('error', giveUp);
    const speak = () => {
      if (!isOver)
        timer = setTimeout(() => void connection.query('SELECT 1').then(speak, giveUp), SPEAK_EVERY_MS);
    };
    speak();
  });
  try {
    return await Promise.race([work(), lost]);
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

/** Released explicitly, because a proxy may keep the session after the connection ends. */
async function giveBack(connection: pg.Client): Promise<void> {
  // A connection that broke has lost the lock with its session.
  await connection.query('SELECT pg_advisory_unlock($1)', [LOCK.toString()]).catch(() => undefined);
}

/** A session that holds the lock; the role may not see since when another role's session exists. */
interface Holder {
  pid: number;
  application: string;
  since: Date | null;
}

async function findHolder(connection: pg.Client): Promise<Holder | undefined> {
  const { rows } = await connection.query<Holder>(
    `SELECT l.pid, coalesce(a.application_name, '') AS application, a.backend_start AS since
       FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid = ($1::bigint >> 32)::oid AND l.objid = ($1::bigint & 4294967295)::oid`,
    [LOCK.toString()],
  );
  return rows[0];
}

function nameOf(holder: Holder | undefined): string {
  if (!holder) return 'a session that has just ended';
  const since = holder.since ? `, connected since ${holder.since.toISOString()}` : '';
  return `PostgreSQL process ${holder.pid} (application_name "${holder.application}"${since})`;
}

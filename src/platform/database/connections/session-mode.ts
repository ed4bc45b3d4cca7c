import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { closeAtOnce } from './connection-problem.js';

// Only used to prove that notifications arrive.
const OWN_CHANNEL = 'listener_proof';

/** There is a pooler in transaction mode in between, which loses everything that belongs to a session (notifications, locks). */
export class SessionLostError extends Error {
  constructor() {
    super(
      'notifications do not arrive; DATABASE_URL must point to PostgreSQL itself or to a pooler in session mode',
    );
  }
}

/**
 * A notification from another connection must arrive on this one while it is idle. Behind a pooler in transaction mode LISTEN
 * succeeds, but notifications are lost. Throws a SessionLostError if it does not arrive in time.
 */
export async function proveSessionMode(
  connection: pg.Client,
  announcer: pg.Client,
  withinMs: number,
): Promise<void> {
  const sign = randomBytes(8).toString('hex');
  let timer: NodeJS.Timeout | undefined;
  const heard = new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => reject(new SessionLostError()), withinMs).unref();
    connection.once('end', () => reject(new Error('the connection was lost')));
    connection.on('notification', ({ payload }) => payload === sign && resolve());
  });
  heard.catch(() => undefined);
  try {
    await connection.query(`LISTEN ${OWN_CHANNEL}`);
    await announcer.connect();
    await announcer.query('SELECT pg_notify($1, $2)', [OWN_CHANNEL, sign]);
    await heard;
  } finally {
    clearTimeout(timer);
    closeAtOnce(announcer);
  }
  await connection.query(`UNLISTEN ${OWN_CHANNEL}`);
}

import type pg from 'pg';
import { closeAtOnce } from '#platform/database/connections/connection-socket.js';
import { newConnection } from '#platform/database/connections/connections.js';

/**
 * Asks the database something over a connection of its own, each step of which takes at most this many milliseconds: a server that froze
 * after accepting the connection sends nothing. Throws the driver's errors.
 */
export async function askAtStart<T>(
  url: string,
  milliseconds: number,
  ask: (connection: pg.Client) => Promise<T>,
): Promise<T> {
  const connection = newConnection(url, {
    application_name: 'charging-data-service start',
    connectionTimeoutMillis: milliseconds,
    query_timeout: milliseconds,
  });
  try {
    await connection.connect();
    return await ask(connection);
  } finally {
    // Without waiting for the other side, which may not respond.
    closeAtOnce(connection);
  }
}

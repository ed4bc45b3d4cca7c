import type { Socket } from 'node:net';
import type { Client } from 'pg';

/** The socket of a connection: pg itself cannot close one without waiting for the other side. */
export const socketOf = (connection: Client): Socket =>
  (connection as unknown as { connection: { stream: Socket } }).connection.stream;

/** Sends the end message and closes a connection, without waiting for the other side, which may not respond. */
export function closeAtOnce(connection: Client): void {
  connection.end().catch(() => undefined);
  socketOf(connection).destroySoon();
}

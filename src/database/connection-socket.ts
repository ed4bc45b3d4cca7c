import type { Socket } from 'node:net';
import type { Client } from 'pg';

/** The socket beneath a connection: pg has no way of its own to end one without waiting for the other side. */
export const socketOf = (connection: Client): Socket =>
  (connection as unknown as { connection: { stream: Socket } }).connection.stream;

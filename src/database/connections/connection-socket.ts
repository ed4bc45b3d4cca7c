import type { Socket } from 'node:net';
import type { Client } from 'pg';

/** The socket of a connection: pg cannot close one without waiting for the other side. */
export const socketOf = (connection: Client): Socket =>
  (connection as unknown as { connection: { stream: Socket } }).connection.stream;

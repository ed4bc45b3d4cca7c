import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends half of a request with a body to this machine, and closes the connection; resolves once the receiver has closed it, too. */
export async function breakOff(port: number, address: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.resume().end(`POST ${address} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\nhalf`);
  await once(socket, 'close');
}

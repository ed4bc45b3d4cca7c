import { connect } from 'node:net';

// This only ends a hang; it is far above the time of any answer.
const DEADLINE_MS = 60_000;

/**
 * Sends the bytes on a new connection, ends its side of it, and returns the statuses of everything received until the service
 * closed the connection. Throws if the service does not close it, or answers with something other than HTTP.
 */
export function statusesAfter(url: string, bytes: Buffer): Promise<number[]> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error('the service neither answers nor closes')));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    let failure: NodeJS.ErrnoException | undefined;
    socket.on('error', (error) => (failure = error));
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('latin1');
      // The service may have closed the connection before everything was written.
      if (failure && !/^(ECONNRESET|EPIPE)$/.test(failure.code ?? '')) reject(failure);
      else if (text !== '' && !text.startsWith('HTTP/1.1 '))
        reject(new Error(`no HTTP: ${text.slice(0, 80)}`));
      else resolve([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)));
    });
  });
}

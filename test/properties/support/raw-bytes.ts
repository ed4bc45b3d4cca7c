import { connect } from 'node:net';

// It only ends a hang: far above what any answer takes.
const DEADLINE_MS = 60_000;

/**
 * Sends the bytes on a connection of their own, ends its side, and gives the statuses of whatever came back until the service
 * closed the other. Throws where it does not, or answers with something that is not HTTP.
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
      // It may have closed before everything was written.
      if (failure && !/^(ECONNRESET|EPIPE)$/.test(failure.code ?? '')) reject(failure);
      else if (text !== '' && !text.startsWith('HTTP/1.1 '))
        reject(new Error(`no HTTP: ${text.slice(0, 80)}`));
      else resolve([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)));
    });
  });
}

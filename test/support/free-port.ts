import { createServer } from 'node:net';

// Below the ports that the system gives out by itself (from 32768 on Linux), so that no connection or server that chooses none
// takes one between the look and its use; and low enough for a Redis in a cluster, which also listens 10000 above its own.
// (Browsers refuse 10080.)
const [FIRST, LAST] = [10_081, 19_999];

// Test files run side by side: each begins elsewhere.
let next = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));

/** A port of 127.0.0.1 that nothing listens on, and that no other test is likely to ask for soon. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port === LAST ? FIRST : port + 1;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

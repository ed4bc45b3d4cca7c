import { createServer } from 'node:net';

// Below the range of ephemeral ports (from 32768 on Linux), so that no other connection or server gets the port between the check
// and its use; and low enough for a Redis in a cluster, which also listens 10000 above its own port. (Browsers block 10080.)
const LOWEST = 10_081;

// Test files run in parallel, in numbered workers: each worker has ports of its own, also for a service that is started again later.
const WORKERS = 8;
const OF_EACH = 1_200;
const FIRST = LOWEST + ((Number(process.env.JEST_WORKER_ID ?? 1) - 1) % WORKERS) * OF_EACH;
const LAST = FIRST + OF_EACH - 1;
let next = FIRST + Math.floor(Math.random() * OF_EACH);

/** A port of 127.0.0.1 that nothing listens on, and that no other test is likely to choose soon. */
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

import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

if (!isMainThread && workerData?.role === 'receiver') await receive();

/** Starts a receiver of deliveries in a thread of its own, which records what it received. */
export async function startReceiver() {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { role: 'receiver' } });
  const ask = async (question) => {
    worker.postMessage(question);
    const [answer] = await once(worker, 'message');
    return answer;
  };
  const { port } = await ask({ what: 'port' });
  return {
    port,
    /** Sets how many deliveries are expected from now on: `finished` resolves to the milliseconds from the first to the last. */
    expect: async (number) => {
      await ask({ what: 'expect', number });
      return {
        finished: number === Infinity ? undefined : once(worker, 'message').then(([answer]) => answer),
      };
    },
    hang: (isHanging) => ask({ what: 'hang', isHanging }),
    arrivals: () => ask({ what: 'arrivals' }),
    end: () => void worker.terminate(),
  };
}

async function receive() {
  let [first, received, expected, isHanging] = [0, 0, 0, false];
  let held = [];
  const arrivals = new Map();
  const server = createServer((request, response) => {
    const now = performance.timeOrigin + performance.now();
    if (isHanging && request.url === '/1') return void held.push(response);
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      response.end('ok');
      if (received++ === 0) first = now;
      if (expected === Infinity) arrivals.set(JSON.parse(Buffer.concat(chunks).toString()).data.n, now);
      if (received === expected) parentPort.postMessage(performance.timeOrigin + performance.now() - first);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  parentPort.on('message', (question) => {
    if (question.what === 'port') return parentPort.postMessage({ port: server.address().port });
    if (question.what === 'arrivals') return parentPort.postMessage(arrivals);
    if (question.what === 'expect') [received, expected] = [0, question.number];
    if (question.what === 'hang') {
      isHanging = question.isHanging;
      for (const response of held) response.end();
      held = [];
    }
    parentPort.postMessage('done');
  });
}

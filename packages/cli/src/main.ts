import { run } from './cli.js';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stopping.abort());
}
// Whoever read the lines has left, as after `| head`.
process.stdout.on('error', () => stopping.abort());
process.stderr.on('error', () => undefined);
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: (text) => void process.stdout.write(text),
  write: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => {
        if (!error) return resolve();
        stopping.abort();
        reject(error);
      });
    }),
  error: (text) => void process.stderr.write(text),
  stop: stopping.signal,
});

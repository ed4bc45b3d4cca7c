// `npm run test:watch -- test/e2e/consent`: runs the files whose path matches at every change of a source. The database stays, so
// that this takes seconds; a changed migration makes a new one.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const patterns = process.argv.slice(2);
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

const run = (args) =>
  new Promise((resolve) => {
    spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }).on('close', resolve);
  });

let database;
async function startDatabase() {
  await database?.end();
  delete process.env.TEST_DATABASE_URL;
  const [{ default: start }, { default: end }] = await Promise.all(
    ['setup', 'teardown'].map((part) => import(`../test/support/global-${part}.mjs`)),
  );
  await start();
  database = { end };
}

let changed = new Set(['migrations']);
let isRunning = false;
async function test() {
  if (isRunning) return;
  isRunning = true;
  while (changed.size > 0) {
    const needsDatabase = changed.has('migrations');
    changed = new Set();
    if ((await run(['scripts/compile.mjs'])) !== 0) continue;
    if (needsDatabase) await startDatabase();
    await run([jest, ...patterns]);
  }
  isRunning = false;
}

for (const folder of ['src', 'demo', 'migrations', 'test', 'packages']) {
  watch(path.join(root, folder), { recursive: true }, (_event, file) => {
    if (!/\.(tsx?|md|json|css|js)$/.test(file ?? '') || /(^|\/)(dist|node_modules)\//.test(file)) return;
    changed.add(folder);
    // An editor writes a file in several steps.
    setTimeout(test, 100);
  });
}
process.on('SIGINT', async () => {
  await database?.end();
  process.exit();
});
await test();

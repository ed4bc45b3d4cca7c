// `npm run test:foreign`: runs a fixed part of the tests under each of the conditions of test/support/foreign-conditions.ts, or under those
// that are named; with `--one-by-one`, one after another until a message of the parent process says that there is room. `NIGHTLY=1` runs all of test/e2e as well, under two of them that PROPERTY_SEED chooses. Needs compiled tests.
import { spawn } from 'node:child_process';
import { existsSync, statSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { FIXED_PART, FOREIGN_CONDITIONS } from '../dist/test/support/foreign-conditions.js';
import { installedPostgresFolder } from '../dist/test/support/installed-postgres.js';
import { lackingHaproxy } from '../dist/test/support/haproxy.js';
import { lackingPgBouncer } from '../dist/test/support/pgbouncer.js';

const root = path.join(import.meta.dirname, '..');
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const clock = pathToFileURL(path.join(root, 'test/support/stepping-clock.mjs')).href;
const NOBODY = 65_534;
const ONE_BY_ONE = '--one-by-one';

/** Whether everybody can get into this folder. */
const isOpen = (folder) =>
  (statSync(folder).mode & 0o001) !== 0 && (folder === path.dirname(folder) || isOpen(path.dirname(folder)));

/** Why a condition cannot be had on this machine; undefined if it can. */
function lackingFor({ server, pooler, balancer, node, user }) {
  if (server && !installedPostgresFolder) return 'no installed PostgreSQL';
  if (pooler && lackingPgBouncer) return lackingPgBouncer;
  if (balancer && lackingHaproxy) return lackingHaproxy;
  if (node && !existsSync(process.env.NODE_OF_IMAGE ?? ''))
    return 'NODE_OF_IMAGE does not name a Node.js of the image';
  if (user && process.getuid() !== 0) return 'only root can become another user';
  if (user && !isOpen(root)) return 'the folder of the project is closed to other users';
  return undefined;
}

/** Runs a part under conditions; resolves to whether all passed. What it prints is shown only if something failed. */
async function runUnder(conditions, part) {
  const all = Object.assign({}, ...conditions);
  const env = {
    ...process.env,
    ...Object.assign({}, ...conditions.map(({ env = {} }) => env)),
    FOREIGN_CONDITION: conditions.map(({ name }) => name).join(' + '),
    ...(all.clockOff ? { NODE_OPTIONS: `--import=${clock}`, CLOCK_OFFSETS: String(all.clockOff) } : {}),
  };
  const child = spawn(
    all.node ? process.env.NODE_OF_IMAGE : process.execPath,
    [
      '--max-semi-space-size=64',
      jest,
      '--runInBand',
      '--testPathIgnorePatterns',
      String.raw`\.long\.spec\.js$`,
      '--testPathPatterns',
      `/test/(${part.join('|')})\\.spec\\.js$`,
    ],
    {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(all.user ? { uid: NOBODY, gid: NOBODY } : {}),
    },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const code = await new Promise((resolve) => child.on('close', resolve));
  const summary = /^\d+ passed, .*$/m.exec(printed)?.[0] ?? '0 passed, 1 failed';
  process.stdout.write(`${code === 0 ? '' : printed}\nUnder ${env.FOREIGN_CONDITION}:\n${summary}\n`);
  return code === 0;
}

const asked = process.argv.slice(2).filter((name) => name !== ONE_BY_ONE);
const unknown = asked.filter((name) => !FOREIGN_CONDITIONS.some((condition) => condition.name === name));
if (unknown.length > 0) {
  writeSync(
    process.stderr.fd,
    `There is no condition ${unknown.join(', ')}. There are:\n${FOREIGN_CONDITIONS.map(({ name }) => `  ${name}\n`).join('')}`,
  );
  process.exit(1);
}
const failed = [];
const leftOut = [];
const possible = FOREIGN_CONDITIONS.filter((condition) => {
  const lacking = lackingFor(condition);
  if (lacking) leftOut.push(`${condition.name}: ${lacking}`);
  return !lacking;
});
/** Each process loads the service and starts a database and a browser of its own. */
const TOGETHER = 6;
/** What is tried at once: a condition, or up to so many neighbours that have no part of their own. */
function groupsOf(conditions, areTogether) {
  const groups = [];
  for (const condition of conditions) {
    const before = groups.at(-1);
    if (areTogether && before?.length < TOGETHER && !before[0].part && !condition.part)
      before.push(condition);
    else groups.push([condition]);
  }
  // What takes longest begins first.
  const weightOf = (group) => 10 * group.length + (group[0].part?.length ?? 0);
  return groups.sort((a, b) => weightOf(b) - weightOf(a));
}
const left = groupsOf(
  possible.filter(({ name }) => asked.length === 0 || asked.includes(name)),
  asked.length === 0 && !process.env.NIGHTLY,
);
const runAll = async () => {
  for (let group; (group = left.shift());)
    if (!(await runUnder(group, group[0].part ?? FIXED_PART)))
      failed.push(group.map(({ name }) => name).join(' + '));
};
const lanes = process.argv.includes(ONE_BY_ONE) ? 1 : availableParallelism();
const running = Array.from({ length: lanes }, runAll);
process.once('message', () => running.push(runAll()));
process.channel?.unref();
// Also those that have begun in the meantime.
for (const lane of running) await lane;
if (process.env.NIGHTLY && asked.length === 0) {
  const seed = Number(process.env.PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31));
  // One with a part of its own changes what other tests look at.
  const all = possible.filter(({ part }) => !part);
  const first = seed % all.length;
  const second = (first + 1 + (Math.floor(seed / all.length) % (all.length - 1))) % all.length;
  process.stdout.write(`\nAll of test/e2e under two conditions (PROPERTY_SEED=${seed}):\n`);
  const pair = [all[first], all[second]];
  if (!(await runUnder(pair, ['e2e/.*']))) failed.push(pair.map(({ name }) => name).join(' + '));
}
if (leftOut.length > 0 && asked.length === 0)
  process.stdout.write(
    `\n0 passed, 0 failed, ${leftOut.length} skipped\nLeft out, because something is missing here:\n${leftOut.map((line) => `  ${line}\n`).join('')}`,
  );
if (failed.length > 0)
  process.stdout.write(`\nFailed:\n${failed.map((name) => `  under ${name}\n`).join('')}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;

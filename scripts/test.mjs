// `npm test`: compiles, then runs the tests, and the static checks beside them. `--long`: the tests that take minutes because they
// must, on what `npm run build` has built, and beside them those under foreign conditions. `--only oauth`: those of a module. Everything else is for jest.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const LONG = String.raw`\.long\.spec\.js$`;
// Most objects die young: a larger nursery saves a tenth of the time.
const JEST = ['--max-semi-space-size=64', createRequire(import.meta.url).resolve('jest/bin/jest')];

const rest = process.argv.slice(2);
const take = (name, count) => {
  const at = rest.indexOf(name);
  return at === -1 ? undefined : rest.splice(at, count).at(-1);
};
const isLong = take('--long', 1) !== undefined;
const only = take('--only', 2);

/** Runs a command in this repository; with `quiet`, returns what it prints instead of showing it. */
const run = (command, args, { quiet = false } = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit' });
    let printed = '';
    for (const stream of quiet ? [child.stdout, child.stderr] : [])
      stream.on('data', (text) => (printed += text));
    child.on('close', (code) => resolve({ code: code ?? 1, printed }));
  });
const node = (...args) => run(process.execPath, args);

if (isLong) await run('npm', ['run', '--silent', 'build']);
const compiled = await node('scripts/compile.mjs');
if (compiled.code !== 0) process.exit(compiled.code);
// Tests start the service in hundreds of processes.
if (!process.env.COVERAGE) await node('scripts/bundle.mjs');

/**
 * Long tests of the night: they search further, or in another way, for what others show already, or are about surroundings that few changes
 * touch. Whoever touches one of these runs it: `npm run jest -- test/faults/failover`.
 */
const AT_NIGHT = [
  'browser/accessibility-console',
  'browser/accessibility-other',
  'browser/accessibility-portal',
  'browser/account-without-scripts',
  'browser/api-reference',
  'browser/brand',
  'browser/console-without-scripts',
  'browser/identity-providers',
  'browser/link-secrecy',
  'browser/one-big-thing',
  'browser/pages-without-scripts',
  'browser/passkey-suggestions',
  'browser/portal-members',
  'browser/portal-without-scripts',
  'browser/roles',
  'browser/several-origins',
  'e2e/announced-ends',
  'e2e/concurrency',
  'e2e/deletion-races',
  'e2e/foreign-database',
  'e2e/gateways',
  'e2e/libraries',
  'e2e/metrics-over-otlp',
  'e2e/tracing',
  'faults/backup',
  'faults/balancer',
  'faults/clock-of-the-database',
  'faults/database-hosts',
  'faults/database-roles',
  'faults/debian',
  'faults/demonstration',
  'faults/failover',
  'faults/features',
  'faults/full-disk',
  'faults/killed-apply',
  'faults/mail',
  'faults/migrations-apart',
  'faults/operator-output',
  'faults/pooler',
  'faults/process-under-load',
  'faults/redis-tls',
  'faults/sandbox',
  'faults/schema-changes',
  'faults/tokens-and-clocks',
  'faults/tokens-behind-a-pooler',
  'medium/bench',
  'medium/embedded-postgres',
  'medium/kubernetes',
  'medium/list-plans',
  'medium/production-only',
  'medium/redis-failover',
  'properties/consent-histories',
  'properties/endpoints',
];
/** The files about a module of the service (test/modules.json), or those with this word in their name. */
const patternOf = (word) => {
  const modules = JSON.parse(readFileSync(path.join(root, 'test/modules.json'), 'utf8'));
  return `/(${(modules[word] ?? [word]).join('|')})[^/]*\\.spec\\.js$`;
};
const isWhole = !only && rest.length === 0;
const selection = isLong
  ? ['--testPathPatterns', LONG]
  : ['--testPathIgnorePatterns', LONG, ...(only ? ['--testPathPatterns', patternOf(only)] : [])];
const beside = isWhole && !isLong ? run('npm', ['run', 'check:static'], { quiet: true }) : { code: 0 };
// Long tests wait most of their time for processes that they started.
const workers = isLong ? [`--maxWorkers=${availableParallelism() + 2}`] : [];
const atNight = isWhole && isLong && !process.env.NIGHTLY ? AT_NIGHT : [];
const leftForNight = atNight.length > 0 ? ['--testPathIgnorePatterns', ...atNight.map(patternOf)] : [];
// One condition after another, beside the long tests, which wait most of their time; then two.
const foreign =
  isWhole && isLong
    ? spawn(process.execPath, ['scripts/test-foreign.mjs', '--one-by-one'], {
        cwd: root,
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      })
    : undefined;
const foreignEnd = foreign && new Promise((resolve) => foreign.on('close', (code) => resolve(code ?? 1)));
const tests = await node(...JEST, ...workers, ...rest, ...selection, ...leftForNight);
if (foreign?.connected) foreign.send('the others have ended', () => undefined);
if (atNight.length > 0) process.stdout.write(`For the night (NIGHTLY=1): ${atNight.join(', ')}.\n`);
const checks = await beside;
if (checks.code !== 0)
  process.stdout.write(`${checks.printed}\nThe static checks failed (npm run check:static).\n`);
else if (checks.printed) process.stdout.write('The static checks passed.\n');
process.exitCode = tests.code || (await foreignEnd) || checks.code;

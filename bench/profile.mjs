/**
 * Shows where the service's processor time goes, per request: runs the service under Node.js's own profiler and reports what the
 * framework, the log line, the limits, the metrics and the guards cost. After `npm run build`:
 *
 *   node bench/profile.mjs [--seconds 8] [--only W1,W2] [--out bench/results/profile]
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startDatabase } from './database.mjs';
import { CORES, machine, PINNING, pinSelf } from './machine.mjs';
import { loadOnce } from './measure.mjs';
import { KINDS, timeByKind } from './profile-kinds.mjs';
import { startService } from './servers.mjs';
import { makeSetting } from './setting.mjs';
import { TOKEN_WORKLOADS } from './workloads.mjs';

const WARM_UP_SECONDS = 4;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    only: { type: 'string' },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results', 'profile') },
  },
});
const seconds = Number(values.seconds);
const workloads = TOKEN_WORKLOADS.filter(({ id }) => values.only?.split(',').includes(id) ?? true);
const where = machine();
if (PINNING.possible) pinSelf(CORES.load);
const database = await startDatabase();
try {
  const setting = await makeSetting(database);
  const columns = [];
  for (const workload of workloads) columns.push(await profiled(workload, setting));
  const text = report(columns);
  process.stdout.write(text);
  await mkdir(path.dirname(path.resolve(values.out)), { recursive: true });
  await writeFile(`${values.out}.md`, text);
} finally {
  await database.stop();
}

/** Profiles one workload on a service of its own: requests per second, and microseconds per request by category. */
async function profiled(workload, setting) {
  const folder = await mkdtemp(path.join(tmpdir(), 'charging-data-profile-'));
  try {
    const service = await startService(database, ['--cpu-prof', `--cpu-prof-dir=${folder}`]);
    await setting.sign(service);
    const prepared = { database, side: 'ours', seconds };
    // The profile includes the start and the warm-up; both are excluded by their time.
    await loadOnce(workload, service, await workload.prepare(setting, prepared), WARM_UP_SECONDS);
    const begun = performance.now();
    const { requests, rate, processor } = await loadOnce(
      workload,
      service,
      await workload.prepare(setting, prepared),
      seconds,
    );
    const ended = performance.now();
    await service.stop();
    const stopped = performance.now();
    const [file] = await readdir(folder);
    const profile = JSON.parse(await readFile(path.join(folder, file), 'utf8'));
    // Counted back from the end of the profile, which was written when the service stopped; the load had ended this long before.
    const to = profile.endTime - (stopped - ended) * 1000;
    const kinds = timeByKind(profile, to - (ended - begun) * 1000, to);
    process.stderr.write(`${workload.id}: ${Math.round(rate)} requests a second under the profiler\n`);
    return { id: workload.id, rate, processor, each: kinds.map((microseconds) => microseconds / requests) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function report(columns) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const sum = (each) => each.reduce((total, one) => total + one, 0);
  return [
    '# Where the processor time of a request goes',
    '',
    `- ${new Date().toISOString()}: ${where}`,
    `- \`node --cpu-prof\`, ${seconds} s of each workload after a warm-up; microseconds per request. Time in Node.js's own modules counts for their callers; the`,
    '  profiler itself makes each request slower, so the shares are more meaningful than the sums',
    '',
    line(['µs for each request', ...columns.map(({ id }) => id)]),
    line(['---', ...columns.map(() => '---:')]),
    ...KINDS.map((kind, n) => line([kind, ...columns.map(({ each }) => each[n].toFixed(1))])),
    line(['together', ...columns.map(({ each }) => sum(each).toFixed(1))]),
    line(['processor time, all threads', ...columns.map(({ processor }) => (processor * 1000).toFixed(1))]),
    line(['requests a second', ...columns.map(({ rate }) => Math.round(rate).toLocaleString('en-GB'))]),
    '',
  ].join('\n');
}

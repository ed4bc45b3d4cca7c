/**
 * What three PostgreSQL servers under Patroni cost, and how long a fail-over takes (docs/ha.md). After `node scripts/compile.mjs`:
 *
 *   node bench/failover.mjs [--seconds 10] [--rounds 3] [--kills 5] [--out bench/results/failover.md]
 *
 * pgbench commits changes of single rows, as refreshes are, in turn with and without the synchronous standby. Then the leader is killed
 * again and again, with the lease that is shipped, and an instance on each way to the leader is asked every 50 ms whether it is ready.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { machine } from './machine.mjs';
import { freePort, serviceEnvironment } from './servers.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    kills: { type: 'string', default: '5' },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results', 'failover.md') },
  },
});
const [rounds, kills] = [values.rounds, values.kills].map(Number);
const ROWS = 100_000;
const AT_ONCE = [1, 16];
const CHANGE = `\\set n random(1, ${ROWS})\nUPDATE changed SET times = times + 1 WHERE n = :n;\n`;

const test = (module) => import(new URL(`../dist/test/support/${module}`, import.meta.url).href);
const { PatroniCluster, lackingPatroni } = await test('patroni.js');
const { SpawnedService } = await test('spawned-service.js');
if (lackingPatroni) throw new Error(lackingPatroni);

const lines = [];
const say = (line) => {
  lines.push(line);
  process.stdout.write(`${line}\n`);
};
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const cluster = await PatroniCluster.start({ dcs: {}, parameters: {} });
try {
  say('# Fail-over\n');
  say(`- ${new Date().toISOString()}: ${machine()}; all three servers, etcd and the load on this machine\n`);
  await sayPrice();
  await sayTimes();
} finally {
  await SpawnedService.killAll();
  await cluster.remove();
}
await writeFile(values.out, `${lines.join('\n')}\n`);

async function sayPrice() {
  await cluster.query(
    `CREATE TABLE changed (n integer PRIMARY KEY, times integer NOT NULL) WITH (fillfactor = 80)`,
  );
  await cluster.query(`INSERT INTO changed SELECT n, 0 FROM generate_series(1, ${ROWS}) n`);
  const script = path.join(cluster.folder, 'change.sql');
  await writeFile(script, CHANGE);
  const measured = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const synchronous of [true, false]) {
      await cluster.change({ synchronous_mode: synchronous });
      await cluster.untilWhole(synchronous);
      for (const clients of AT_ONCE) {
        const key = `${clients} ${synchronous}`;
        measured.set(key, [...(measured.get(key) ?? []), await pgbench(script, clients)]);
      }
    }
  }
  await cluster.change({ synchronous_mode: true });
  await cluster.untilWhole();
  say(
    `Changes of one row, each committed to a disk with fsync, ${values.seconds} s each, the median of ${rounds}:\n`,
  );
  say('| Clients at once | With a synchronous standby | Without |');
  say('|---:|---:|---:|');
  for (const clients of AT_ONCE) {
    const cells = [true, false].map((synchronous) => {
      const runs = measured.get(`${clients} ${synchronous}`);
      return `${Math.round(median(runs.map(({ tps }) => tps)))}/s, ${median(runs.map(({ ms }) => ms)).toFixed(1)} ms`;
    });
    say(`| ${clients} | ${cells.join(' | ')} |`);
  }
}

async function pgbench(script, clients) {
  const { hostname, port, username, password } = new URL(cluster.balancedUrl);
  const { stdout } = await promisify(execFile)(
    path.join(cluster.programs, 'pgbench'),
    [
      '-n',
      '-c',
      String(clients),
      '-T',
      values.seconds,
      '-f',
      script,
      '-h',
      hostname,
      '-p',
      port,
      '-U',
      username,
      'live',
    ],
    { env: { ...process.env, PGPASSWORD: password } },
  );
  return {
    tps: Number(/tps = ([\d.]+)/.exec(stdout)[1]),
    ms: Number(/latency average = ([\d.]+)/.exec(stdout)[1]),
  };
}

async function sayTimes() {
  const ways = { 'by name': cluster.url, 'by HAProxy': cluster.balancedUrl };
  const urls = {};
  for (const [way, DATABASE_URL] of Object.entries(ways)) {
    const port = await freePort();
    await new SpawnedService({ ...serviceEnvironment(port), DATABASE_URL }).ready();
    urls[way] = `http://127.0.0.1:${port}/health/ready`;
  }
  const all = ['another leads', ...Object.keys(ways)].map((what) => [what, []]);
  for (let kill = 0; kill < kills; kill++) {
    await cluster.untilWhole();
    const leader = await cluster.leader();
    await cluster.kill(leader);
    const begun = performance.now();
    const since = async (until) => {
      await until;
      return (performance.now() - begun) / 1000;
    };
    const times = await Promise.all([
      since(cluster.untilReplaced(leader)),
      ...Object.values(urls).map((url) => since(untilReadyAgain(url))),
    ]);
    for (const [n, time] of times.entries()) all[n][1].push(time);
    await cluster.revive(leader);
  }
  say(`\nSeconds from the end of the leader until …, ${kills} times:\n`);
  say('| … | Least | Median | Most |');
  say('|---|---:|---:|---:|');
  for (const [what, times] of all) {
    say(
      `| ${what === 'another leads' ? what : `the instance is ready again ${what}`} | ${[Math.min(...times), median(times), Math.max(...times)].map((time) => time.toFixed(1)).join(' | ')} |`,
    );
  }
}

/** Not ready first, and then ready. */
async function untilReadyAgain(url) {
  for (const wanted of [false, true]) {
    while ((await fetch(url).then(({ ok }) => ok)) !== wanted) await pause(50);
  }
}

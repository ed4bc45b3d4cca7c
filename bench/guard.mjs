/**
 * The guard for data services (packages/guard) against plain introspection, and the time from a revocation to the first refusal.
 * By hand, after `npm run build`: node bench/guard.mjs [seconds]
 */
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { AccessGuard } from '../packages/guard/dist/index.js';
import { startDatabase } from './database.mjs';
import { CORES, PINNING, pinSelf } from './machine.mjs';
import { basic } from './http-text.mjs';
import { startService } from './servers.mjs';
import { makeSetting } from './setting.mjs';

const SECONDS = Number(process.argv[2] ?? 5);
const WARM_UP_SECONDS = Math.min(2, SECONDS);
const CONCURRENT = 32;
const TOKENS = 2_000;
const REVOCATIONS = 200;

const say = (line) => void process.stdout.write(`${line}\n`);

const MODES = [
  ['plain introspection', { followChanges: false, rememberMs: 0 }],
  ['remembered for a second', { followChanges: false }],
  ['following the changes', {}],
];

if (PINNING.possible) pinSelf(CORES.load);
else say(`WARNING: ${PINNING.why}. The figures are of little value.`);
const database = await startDatabase();
try {
  const setting = await makeSetting(database);
  const service = await startService(database);
  try {
    await setting.sign(service);
    await measure(setting, service);
  } finally {
    await service.stop();
  }
} finally {
  await database.stop();
}

async function measure(setting, service) {
  const { id: clientId, secret: clientSecret } = setting.introspector;
  const common = { url: service.url, clientId, clientSecret, resource: 'https://data.example.com' };
  say(`Load of the machine in the last minute: ${loadavg()[0].toFixed(1)}`);
  for (const [name, options] of MODES) {
    const guard = new AccessGuard({ ...common, ...options });
    await started(guard, options);
    await ask(guard, setting, WARM_UP_SECONDS);
    const before = guard.statistics.asked;
    const answers = await ask(guard, setting, SECONDS);
    const asked = guard.statistics.asked - before;
    say(`${name}: ${Math.round(answers / SECONDS)} answers a second, ${asked} of ${answers} introspected`);
    guard.close();
  }
  const guard = new AccessGuard(common);
  await started(guard, {});
  const times = [];
  for (let n = 0; n < REVOCATIONS; n++) times.push(await untilRefused(guard, setting, service, n));
  guard.close();
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1);
  say(
    `from the answer to a revocation to the first refusal: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`,
  );
}

async function started(guard, { followChanges = true }) {
  guard.start();
  while (followChanges && !guard.statistics.isFollowingChanges) await pause(10);
}

/** Asks for random tokens for so many seconds; returns how many answers there were. */
async function ask(guard, setting, seconds) {
  const until = performance.now() + seconds * 1000;
  let answers = 0;
  const one = async () => {
    while (performance.now() < until) {
      const { ours, user } = setting.tokens[Math.floor(Math.random() * TOKENS)];
      const access = await guard.scopesFor(ours, user.id);
      if (access?.scopes.length !== 2) throw new Error('a valid token was refused');
      answers++;
      // Answers from memory must not keep the feed from being read.
      if (answers % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, one));
  return answers;
}

/** Milliseconds from the answer to the revocation of a remembered token until it is refused. */
async function untilRefused(guard, setting, service, n) {
  const { ours, user } = setting.tokens[TOKENS + n];
  const isAllowed = async () => (await guard.scopesFor(ours, user.id)) !== undefined;
  // What is asked for right after a change of the same client is not remembered.
  await pause(250);
  if (!(await isAllowed())) throw new Error('a valid token was refused');
  const client = setting.clients.find(({ id }) => id === user.client.id);
  const { status } = await fetch(`${service.url}/o/revoke_token/`, {
    method: 'POST',
    headers: { authorization: basic(client), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token: ours }).toString(),
  });
  if (status !== 200) throw new Error(`the revocation was answered with ${status}`);
  const revokedAt = performance.now();
  while (await isAllowed()) await new Promise((resolve) => setImmediate(resolve));
  return performance.now() - revokedAt;
}

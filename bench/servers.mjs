import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { CORES, pinned } from './machine.mjs';

const READY_MS = 60_000;
const STOP_MS = 15_000;
const MANY = '1000000000';
// As large as the service's: left to V8, the wall's stays at a quarter of it and is collected more often.
const YOUNG_GENERATION = ['--min-semi-space-size=16', '--max-semi-space-size=16'];

/**
 * Starts the service as in production: the built program with every check, limit, log line and metric; its log goes to a file.
 * `options` are passed to Node.js, `environment` has further settings.
 */
export async function startService(database, options = [], environment = {}) {
  const port = await freePort();
  const nodeArguments = [...options, ...(await startArguments())];
  return start('service', database, nodeArguments, port, { ...serviceEnvironment(port), ...environment });
}

/** The settings of the service and of the operator tool. */
export function serviceEnvironment(port) {
  return {
    NODE_ENV: 'production',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    ENCRYPTION_KEY: Buffer.alloc(32, 'b').toString('base64'),
    // So high that no request is refused; everything is counted.
    RATE_LIMIT_PER_HOUR: MANY,
    OAUTH_RATE_LIMIT_PER_MINUTE: MANY,
    SESSION_RATE_LIMIT_PER_MINUTE: MANY,
    // The receiver of W8 runs on this machine.
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
  };
}

/** What the programs that are measured inherit from the bench. */
function inherited() {
  const { PATH, NODE_OPTIONS } = process.env;
  return { PATH, ...(NODE_OPTIONS ? { NODE_OPTIONS } : {}) };
}

/** The best conventional program (floor.mjs). */
export const startFloor = (database) => startBare('floor', database);

/** The lower bound for any service on Node.js (wall.mjs). */
export const startWall = (database) => startBare('wall', database);

/** The wall in the framework of the service (frame-server.mjs). */
export const startFrame = (database) => startBare('frame', database, 'frame-server');

/** What others would pick instead, over the same database; `setting` has what it knows of clients. */
export async function startPeer(name, database, { clients, introspector }, scopes) {
  const file = path.join(database.folder, 'peers.json');
  await writeFile(file, JSON.stringify({ clients: [...clients, introspector], scopes }));
  return startBare(name, database, `peers/${name}`, { NODE_ENV: 'production', PEER_SETTING: file });
}

/** Tokens that a peer makes by its own means (peers/oidc-provider.mjs). */
export async function peerTokens({ url }, asked) {
  const answer = await fetch(`${url}/bench/tokens`, { method: 'POST', body: JSON.stringify(asked) });
  if (!answer.ok) throw new Error(`A peer made no tokens: ${answer.status}`);
  return answer.json();
}

async function startBare(name, database, file = name, environment = {}) {
  const port = await freePort();
  const program = fileURLToPath(new URL(`./${file}.mjs`, import.meta.url));
  return start(name, database, [...YOUNG_GENERATION, program], port, { PORT: String(port), ...environment });
}

/** The options that `npm start` passes to Node.js. */
async function startArguments() {
  const root = new URL('../', import.meta.url);
  const { scripts } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  const [, , ...given] = scripts.start.split(' ');
  return [...given.slice(0, -1), fileURLToPath(new URL(given.at(-1), root))];
}

async function start(name, database, nodeArguments, port, env) {
  const logFile = path.join(database.folder, `${name}.log`);
  const log = await open(logFile, 'w');
  const [command, args] = pinned(CORES.server, process.execPath, nodeArguments);
  const child = spawn(command, args, {
    env: { ...inherited(), DATABASE_URL: database.url, ...env },
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed);
  child.once('exit', () => process.off('exit', killed));
  const url = `http://127.0.0.1:${port}`;
  await untilReady(child, `${url}/health/ready`, logFile);
  return { name, pid: child.pid, port, url, logFile, stop: () => stop(child, name) };
}

/** The last lines of a log above the level `info`. */
export async function lastWarnings(logFile) {
  const last = [];
  // After an hour of load the log is larger than a string can be.
  for await (const line of createInterface({ input: createReadStream(logFile) })) {
    if (/"level":"(warn|error|fatal)"/.test(line) && last.push(line) > 5) last.shift();
  }
  return last.join('\n');
}

async function untilReady(child, url, logFile) {
  const begun = performance.now();
  for (;;) {
    if (child.exitCode !== null) {
      throw new Error(
        `A server ended instead of starting:\n${(await readFile(logFile, 'utf8')).slice(-2000)}`,
      );
    }
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    if (performance.now() - begun > READY_MS) throw new Error(`No server answers at ${url}.`);
    await pause(50);
  }
}

async function stop(child, name) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  const [code] = await ended;
  clearTimeout(late);
  if (code !== 0) throw new Error(`The ${name} did not stop cleanly (${code}).`);
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// Starts the service once as the container does, without any settings, and stops it when it is ready: with NODE_COMPILE_CACHE, Node.js
// keeps what it has compiled for later starts (Dockerfile).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';

const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
const [, , ...args] = scripts.start.split(' ');
const PORT = process.env.PORT ?? '3000';
const DATA_DIR = await mkdtemp(path.join(tmpdir(), 'charging-data-first-start-'));
const service = spawn(process.execPath, args, { env: { ...process.env, PORT, DATA_DIR }, stdio: 'inherit' });
const ended = once(service, 'exit');

const isReady = () =>
  fetch(`http://127.0.0.1:${PORT}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
let isOver = false;
void ended.then(() => (isOver = true));
while (!isOver && !(await isReady())) await wait(100);
service.kill('SIGTERM');
const [code] = await ended;
await rm(DATA_DIR, { recursive: true, force: true });
process.exitCode = code ?? 1;

import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { CONDITION_OF_RUN } from './foreign-conditions.js';
import { until } from './until.js';

/** The flags that `npm start` passes to Node.js. */
const FLAGS = (
  JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } }
).scripts.start.match(/--\S+/g)!;
/** A module that holds timers, loaded first. */
export const HELD_TIMERS = pathToFileURL(path.join(process.cwd(), 'test', 'support', 'held-timers.mjs')).href;
/** The limits of a shutdown, in milliseconds: when requests under way are cut off, and when the process exits in any case. */
export const SHUTDOWN_LIMITS = { cutOff: 8_000, end: 9_500 };
/** For a test that a service warns of nothing: however slow the database is, its connection for notifications is not given up. */
export const PATIENT_WITH_DATABASE = { heldTimers: ['3000:session-mode', '3000:pg/lib/client'] };
const READY = /listening on|Its first token:\ncurl -s .*\n/;

/** Reads as a terminal far away does: the writer often finds the pipe full. */
function readSlowly(stream: Readable, keep: (chunk: Buffer) => void): void {
  const timer = setInterval(() => {
    const chunk = stream.read(Math.min(stream.readableLength, 512) || undefined) as Buffer | null;
    if (chunk) keep(chunk);
  }, 10);
  stream.once('end', () => clearInterval(timer));
}

/** The service in a process of its own, as `npm start` starts it. */
export class SpawnedService {
  private static readonly all = new Set<SpawnedService>();
  /** Its output on both streams. */
  printed = '';
  readonly ended: Promise<number | null>;
  private isOver = false;
  private readonly child: ChildProcess;

  /**
   * `files`: how many files it may open; `imports`: modules to load first; `heldTimers`: timers (held-timers.mjs) that do not
   * fire before {@link letTimersPass}, so that whatever ends without it did not depend on them; `folder`: of another build.
   */
  constructor(
    environment: Record<string, string>,
    {
      files,
      imports = [],
      heldTimers = [],
      folder = process.cwd(),
    }: { files?: number; imports?: string[]; heldTimers?: (number | string)[]; folder?: string } = {},
  ) {
    const { PATH, HOME, TMPDIR } = process.env;
    const env = {
      PATH,
      HOME,
      HELD_TIMERS: heldTimers.join(),
      ...(TMPDIR ? { TMPDIR } : {}),
      ...environment,
    };
    const args = [...FLAGS, ...[HELD_TIMERS, ...imports].map((module) => `--import=${module}`)];
    args.push(path.join(folder, 'dist/src/main.js'));
    const [command, ...all] = files
      ? ['/bin/sh', '-c', `ulimit -n ${files} && exec "$0" "$@"`, process.execPath, ...args]
      : [process.execPath, ...args];
    this.child = spawn(command!, all, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      const keep = (chunk: Buffer) => (this.printed += chunk.toString());
      if (CONDITION_OF_RUN?.slowOutput) readSlowly(stream, keep);
      else stream.on('data', keep);
    }
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code) => {
        this.isOver = true;
        resolve(code);
      });
    });
    SpawnedService.all.add(this);
  }

  /** Waits until the service reports that it is ready. */
  async ready(): Promise<this> {
    await until('the service is ready', () => this.isOver || READY.test(this.printed));
    if (this.isOver) throw new Error(`the service ended instead of starting:\n${this.printed.slice(-2000)}`);
    return this;
  }

  get pid(): number {
    return this.child.pid!;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Fires the held timers that are set now, of several lengths those of the shortest. */
  letTimersPass(): void {
    this.signal('SIGUSR2');
  }

  /** Its exit code, null if a signal killed it; throws if it keeps running. */
  async exit(): Promise<number | null> {
    await until('the service has ended', () => this.isOver);
    return this.ended;
  }

  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.exit();
  }

  /** Kills every process that is still running; for the end of the tests. */
  static async killAll(): Promise<void> {
    const left = [...this.all].filter((each) => !each.isOver);
    for (const each of left) each.signal('SIGKILL');
    await Promise.all(left.map((each) => each.ended));
  }
}

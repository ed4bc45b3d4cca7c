import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.js';
import { describeUnless } from './left-out.js';
import { until } from './until.js';

const ATTEMPTS = 5;
const CONFIGURATION = 'redis.conf';

/** A Redis that a test may use. */
export interface TestRedis {
  url: string;
  stop(): Promise<void>;
}

/** A test's own Redis, which stores nothing on disk and can be killed and paused. */
export class RedisServer implements TestRedis {
  private child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly options: string[],
    readonly url: string,
  ) {}

  /**
   * Starts `redis-server` from the PATH on a free port of 127.0.0.1; `options` are passed to it unchanged, `file` is the initial
   * content of its configuration file (a sentinel writes to it).
   */
  static async start({ password = '', options = [] as string[], file = '' } = {}): Promise<RedisServer> {
    const directory = await mkdtemp(path.join(tmpdir(), 'charging-data-redis-'));
    await writeFile(path.join(directory, CONFIGURATION), file);
    const secured = password ? [...options, '--requirepass', password] : options;
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const url = `redis://${password ? `:${password}@` : ''}127.0.0.1:${port}`;
      const server = new RedisServer(port, directory, secured, url);
      try {
        await server.start();
        return server;
      } catch (error) {
        // Another process may have taken the port first.
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Starts it again on its port, empty; resolves once it answers. */
  async start(): Promise<void> {
    const where = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.directory];
    const child = spawn(
      'redis-server',
      [
        path.join(this.directory, CONFIGURATION),
        ...where,
        '--save',
        '',
        '--appendonly',
        'no',
        ...this.options,
      ],
      { stdio: 'ignore' },
    );
    this.child = child;
    let problem: Error | undefined;
    const killWithUs = () => void child.kill('SIGKILL');
    process.once('exit', killWithUs);
    child.once('error', (error) => (problem ??= error));
    child.once('exit', () => {
      problem ??= new Error('redis-server ended at its start');
      process.off('exit', killWithUs);
    });
    await until('redis-server answers', async () => {
      if (problem) throw problem;
      return answers(this.port);
    });
  }

  /** Starts it again if it was killed and not started since. */
  async startIfEnded(): Promise<void> {
    if (!this.running) await this.start();
  }

  /** Kills it. */
  async kill(): Promise<void> {
    if (!this.running) return;
    const exited = once(this.child!, 'exit');
    this.child!.kill('SIGKILL');
    await exited;
  }

  /** Pauses it: connections stay open and are accepted, nothing is answered. */
  hang(): void {
    this.child?.kill('SIGSTOP');
  }

  /** Resumes it after {@link hang}. */
  goOn(): void {
    this.child?.kill('SIGCONT');
  }

  private get running(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** A new server if there is a binary, otherwise the one at `REDIS_URL`. */
export async function someRedis(): Promise<TestRedis> {
  if (hasRedisBinary()) return RedisServer.start();
  return { url: process.env.REDIS_URL!, stop: async () => undefined };
}

/**
 * A `describe` for cases that need Redis: `any` Redis, or their `own` to kill. Where there is none, the cases are left out; with
 * `CI=true` they fail.
 */
export function describeWithRedis(need: 'any' | 'own', name: string, cases: () => void): void {
  describeUnless(whatIsLacking(need), name, cases);
}

function whatIsLacking(need: 'any' | 'own'): string | undefined {
  if (hasRedisBinary()) return undefined;
  if (need === 'own') return 'there is no redis-server on the PATH';
  return process.env.REDIS_URL ? undefined : 'there is no redis-server on the PATH, and REDIS_URL is not set';
}

function hasRedisBinary(): boolean {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, 'redis-server'), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Whether something at the port speaks Redis: a server that asks for a password counts, too. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => finish(/^(\+PONG|-NOAUTH)/.test(data.toString())));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}

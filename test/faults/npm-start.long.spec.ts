import { spawn, type ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { untilWaitingForLocks } from '../support/locks.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { freePort } from '../support/free-port.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';

/** npm in a process group of its own, as a supervisor starts it. */
class Npm {
  printed = '';
  exitCode: number | null | undefined;
  private readonly child: ChildProcess;

  constructor(args: string[], env: Record<string, string>) {
    const { PATH, HOME } = process.env;
    this.child = spawn('npm', args, {
      env: { PATH, HOME, npm_config_update_notifier: 'false', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.on('data', (chunk: Buffer) => (this.printed += chunk.toString()));
    this.child.on('exit', (code) => (this.exitCode = code));
  }

  /** Signals only npm, not its group. */
  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async exit(): Promise<number | null> {
    await until('npm has ended', () => this.exitCode !== undefined);
    return this.exitCode!;
  }

  /** Sends a signal to npm and everything it started; returns whether any process is left to receive it. */
  signalGroup(name: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.child.pid!, name);
    } catch {
      return false;
    }
  }
}

describe('a signal to npm only', () => {
  let database: TestDatabase;
  let npm: Npm | undefined;
  beforeAll(async () => (database = await createTestDatabase()));
  afterEach(() => npm?.signalGroup('SIGKILL'));
  afterAll(() => database.drop());

  const settings = (port: number) => ({
    NODE_ENV: 'production',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
  });
  const isOpen = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '(%s) stops the service of npm start cleanly, and then npm with 0',
    async (signal) => {
      const port = await freePort();
      npm = new Npm(['start'], settings(port));
      const { printed } = npm;
      await until(`it listens: ${printed}`, () => isOpen(port));
      npm.signal(signal);
      expect(await npm.exit()).toBe(0);
      expect(npm.signalGroup(0)).toBe(false);
      expect(await isOpen(port)).toBe(false);
    },
  );

  it('leaves the port to the next npm start', async () => {
    const port = await freePort();
    for (let start = 0; start < 2; start++) {
      npm = new Npm(['start'], settings(port));
      await until('it listens', () => isOpen(port));
      npm.signal('SIGTERM');
      expect(await npm.exit()).toBe(0);
    }
  });

  it('stops a command of npm run operator, and then npm', async () => {
    await database.query('BEGIN');
    await database.query('LOCK TABLE users');
    try {
      npm = new Npm(
        ['run', 'operator', '--', 'make-operator', '--email', 'night-shift@mail.example'],
        settings(await freePort()),
      );
      await untilWaitingForLocks(database, 1);
      npm.signal('SIGTERM');
      await npm.exit();
      expect(npm.signalGroup(0)).toBe(false);
    } finally {
      await database.query('ROLLBACK');
    }
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import { tailOf } from './server-log.js';
import { stopServer, type ServerProcess } from './server-process.js';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4_000;

/**
 * Keeps a server running: one that stops unexpectedly (a full disk, a kill) is restarted, immediately at first and then less and
 * less often, until it runs or is no longer wanted.
 */
export class Supervisor {
  private readonly stopping = new AbortController();
  private restarting: Promise<void> = Promise.resolve();
  private stopped: Promise<void> | undefined;

  /** `startAgain` restarts it on the same port, so that its URL stays valid. */
  constructor(
    private server: ServerProcess,
    private readonly startAgain: () => Promise<ServerProcess>,
    private readonly say: (line: string) => void,
  ) {
    this.watch();
  }

  /** Fast shutdown; resolves when the server has ended. Calling it again is harmless. */
  stop(): Promise<void> {
    return (this.stopped ??= this.end());
  }

  private watch(): void {
    this.server.child.once('exit', () => {
      if (!this.stopping.signal.aborted) this.restarting = this.restart();
    });
  }

  private async restart(): Promise<void> {
    this.say(`PostgreSQL stopped unexpectedly and is being restarted:\n${await tailOf(this.server.logFile)}`);
    const { signal } = this.stopping;
    let said = '';
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        this.server = await this.startAgain();
        this.watch();
        this.say('PostgreSQL is running again');
        return;
      } catch (error) {
        const [reason = ''] = (error as Error).message.split('\n');
        if (reason !== said)
          this.say(`PostgreSQL cannot be started and is being retried: ${(error as Error).message}`);
        said = reason;
      }
    }
  }

  private async end(): Promise<void> {
    this.stopping.abort();
    const slow = setTimeout(
      () => this.say('Waiting for PostgreSQL to write its data to the disk and stop'),
      1_000,
    );
    try {
      await this.restarting;
      await stopServer(this.server);
    } finally {
      clearTimeout(slow);
    }
  }
}

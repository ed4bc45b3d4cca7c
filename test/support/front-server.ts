import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { until } from './until.js';

/** A web server that a test has started in the foreground, with a folder of its own. It ends with this process. */
export abstract class FrontServer {
  protected constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    const killWithUs = () => void child.kill('SIGTERM');
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
  }

  /** Waits until it answers there; throws what it said if it has ended instead. */
  protected untilItAnswers(url: string, said: () => string | Promise<string>): Promise<void> {
    return until(`${url} answers`, async () => {
      if (this.child.exitCode !== null) throw new Error(`It has ended: ${await said()}`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

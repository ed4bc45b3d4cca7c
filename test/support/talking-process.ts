import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A child process that ends with this one, and what it has written so far. */
export abstract class TalkingProcess {
  out = '';
  err = '';
  protected readonly ended: Promise<unknown>;

  constructor(protected readonly child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.ended = once(child, 'close');
    const killWithUs = () => this.killNow();
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
  }

  async kill(): Promise<void> {
    this.killNow();
    await this.ended;
  }

  protected killNow(): void {
    this.child.kill('SIGKILL');
  }
}

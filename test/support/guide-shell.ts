import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'node-html-parser';
import type { Http } from './http.js';
import { TalkingProcess } from './talking-process.js';
import { until } from './until.js';

/** The samples of a guide that a reader pastes into a shell, from the top. */
export async function shellSamplesOf(http: Http, slug: string): Promise<string[]> {
  const { text } = await http.get(`/docs/guides/${slug}`, { headers: { accept: 'text/html' } });
  return parse(text, { blockTextElements: { script: true, style: true } })
    .querySelectorAll('pre[data-language="sh"]')
    .map((pre) => pre.textContent);
}

/** A shell into which the samples of a guide are pasted one after another, with nothing set at the start. */
export class GuideShell extends TalkingProcess {
  private pasted = 0;

  static start(): GuideShell {
    const PATH = `${path.resolve('node_modules/.bin')}:${process.env.PATH}`;
    // With -u, a variable that was never set ends the shell.
    const cache = mkdtempSync(path.join(tmpdir(), 'charging-data-npm-'));
    const env = { PATH, HOME: '/nowhere', npm_config_cache: cache };
    const shell = new GuideShell(spawn('bash', ['--noprofile', '--norc', '-u'], { env, detached: true }));
    shell.child.once('close', () => rmSync(cache, { recursive: true, force: true }));
    return shell;
  }

  /** With what it has started: `npx` does not end its program if it is killed. */
  protected override killNow(): void {
    try {
      process.kill(-this.child.pid!, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }

  /** Pastes a sample, and returns what it wrote. Throws if it wrote an error, or ended the shell. */
  async paste(sample: string): Promise<string> {
    const mark = `pasted ${++this.pasted}`;
    const from = this.out.length;
    this.child.stdin!.write(`${sample}\nprintf '%s\\n' '${mark}'\n`);
    await until(`"${sample.split('\n')[0]}" has ended`, () => {
      if (this.child.exitCode !== null) throw new Error(`the shell ended: ${this.err}`);
      return this.out.includes(mark, from);
    });
    if (this.err !== '') throw new Error(`${sample}\nwrote: ${this.err}`);
    return this.out.slice(from, this.out.indexOf(mark, from)).trim();
  }

  /** Pastes a sample that goes on until it is ended, and returns its first line. */
  async leaveRunning(sample: string): Promise<string> {
    const from = this.out.length;
    this.child.stdin!.write(`exec bash -c '${sample.replaceAll("'", `'\\''`)}'\n`);
    await until('it writes a line', () => {
      if (this.child.exitCode !== null) throw new Error(`ended: ${this.err}`);
      return this.out.includes('\n', from);
    });
    return this.out.slice(from, this.out.indexOf('\n', from));
  }
}

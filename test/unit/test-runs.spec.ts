import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const JEST = 'test/support/jest';
const LACKING = 'there is no such-program on this machine';

describe('A run of the tests', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'charging-run-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs these files as `npm test` does; what is printed, and the exit code. */
  const run = (files: Record<string, string>, env: Record<string, string> = {}) => {
    for (const [name, text] of Object.entries(files))
      writeFileSync(path.join(folder, `${name}.spec.mjs`), text);
    const config = {
      rootDir: folder,
      displayName: 'service',
      testMatch: ['<rootDir>/*.spec.mjs'],
      moduleFileExtensions: ['mjs', 'js'],
      testRunner: path.resolve(JEST, 'plain-runner.mjs'),
      testEnvironment: path.resolve(JEST, 'plain-environment.mjs'),
      runtime: path.resolve(JEST, 'plain-runtime.cjs'),
      reporters: [path.resolve(JEST, 'reporter.mjs')],
      transform: {},
    };
    const args = ['node_modules/jest/bin/jest.js', '--config', JSON.stringify(config), '--maxWorkers=2'];
    return new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile(process.execPath, args, { env: { PATH: process.env.PATH, ...env } }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });
  };

  const someLeftOut = {
    'some-left-out': `
      import { describeUnless } from ${JSON.stringify(path.resolve('dist/test/support/left-out.js'))};
      it('runs', () => {});
      describeUnless(undefined, 'with what is there', () => it('runs too', () => {}));
      describeUnless(${JSON.stringify(LACKING)}, 'with what is missing', () => {
        beforeAll(() => { throw new Error('there is nothing to start'); });
        it('would run', () => {});
        describe('in detail', () => it.each([1, 2])('would run %d', () => {}));
      });`,
    'all-left-out': `
      import { describeUnless } from ${JSON.stringify(path.resolve('dist/test/support/left-out.js'))};
      describeUnless(${JSON.stringify(LACKING)}, 'all of it', () => it('would run', () => {}));`,
  };

  it('counts as skipped what a machine cannot run, and ends with what is missing there', async () => {
    const { code, out } = await run(someLeftOut);
    expect(out).toMatch(/✓ \S*some-left-out\S*: 2 passed, 3 left out \(/);
    expect(out).toMatch(/○ \S*all-left-out\S*: 0 passed, 1 left out \(/);
    const end = out.slice(out.indexOf('2 passed, 0 failed'));
    expect(end).toMatch(
      /^2 passed, 0 failed, 4 skipped\n\nLeft out, because something is missing here:\n {2}\S/,
    );
    expect(end).toMatch(
      /\n {2}there is no such-program on this machine: 4 cases of \S*all-left-out\S*, \S*some-left-out\S*\n$/,
    );
    expect(code).toBe(0);
  });

  it('fails for it in continuous integration', async () => {
    const { code, out } = await run(someLeftOut, { CI: 'true' });
    expect([code, out]).toEqual([1, expect.stringContaining('2 passed, 2 failed')]);
    expect(out).toContain(`with what is missing [left out: ${LACKING}]`);
  });

  it('gives a file that a worker has grown too large for to another one, and runs each once', async () => {
    const log = path.join(folder, 'log');
    const files = Object.fromEntries(
      Array.from({ length: 6 }, (_, n) => [
        `file-${n}`,
        `import { appendFileSync } from 'node:fs';
         it('runs', () => appendFileSync(${JSON.stringify(log)}, '${n} ' + process.pid + '\\n'));`,
      ]),
    );
    const { code, out, err } = await run(files, { WORKER_HEAP_MAX: '1' });
    expect([code, err, out]).toEqual([0, '', expect.stringContaining('6 passed, 0 failed')]);
    const ran = readFileSync(log, 'utf8').trim().split('\n');
    expect(ran.map((line) => line.split(' ')[0]).sort()).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(new Set(ran.map((line) => line.split(' ')[1])).size).toBe(6);
  });
});

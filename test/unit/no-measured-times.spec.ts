import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const RULE = 'tests/no-measured-times';
const root = process.cwd();

/** How often lint refuses a test with this text. */
async function refusals(...lines: string[]): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lint-'));
  try {
    for (const file of ['.oxlintrc.json', 'scripts/lint'])
      cpSync(path.join(root, file), path.join(folder, file), { recursive: true });
    mkdirSync(path.join(folder, 'test/unit'), { recursive: true });
    writeFileSync(path.join(folder, 'test/unit/any.spec.mjs'), lines.join('\n'));
    const oxlint = path.join(root, 'node_modules/oxlint/bin/oxlint');
    const printed = await new Promise<string>((resolve) =>
      execFile(process.execPath, [oxlint, '--format=json'], { cwd: folder }, (_, stdout) => resolve(stdout)),
    );
    const { diagnostics } = JSON.parse(printed) as { diagnostics: { code: string }[] };
    return diagnostics.filter(({ code }) => code === 'tests(no-measured-times)').length;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('lint for tests', () => {
  it('refuses measured times and deadlines of single tests', async () => {
    const refused = [
      'const begun = performance.now();',
      'expect(process.hrtime.bigint());',
      'expect(Date.now() - begun).toBeLessThan(10);',
      'expect(end - Date.now()).toBeLessThan(10);',
      'expect(Math.abs(Date.now() / 1000 - Number(header))).toBeLessThan(10);',
      'expect(Date.now() / 1000 - begun).toBeLessThan(10);',
      'expect(Math.abs(purged - Date.now() / 1000)).toBeLessThan(30);',
      'jest.setTimeout(1000);',
      "it('hangs', () => {}, 1000);",
    ];
    expect(await refusals(...refused)).toBe(refused.length);
  });

  it('accepts dates, and tests without deadlines', async () => {
    const fine = [
      'const yesterday = new Date(Date.now() - 86_400_000);',
      'const aMinuteAgo = Date.now() / 1000 - 60;',
      "it('works', () => {});",
    ];
    expect(await refusals(...fine)).toBe(0);
  });

  it('is never disabled without a reason', () => {
    const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.m?tsx?$|\.mjs$/.test(name),
    );
    const off = files.flatMap((name) =>
      readFileSync(path.join('test', name), 'utf8')
        .split('\n')
        .filter((line) => /^\s*\/[/*] oxlint-disable/.test(line) && line.includes(RULE)),
    );
    expect(off.filter((line) => !/ -- \w/.test(line))).toEqual([]);
  });
});

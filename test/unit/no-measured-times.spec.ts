import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const RULE = 'no-restricted-syntax';

/** How often lint refuses a test with this text; only the file's name matters, it need not exist. */
async function refusals(...lines: string[]): Promise<number> {
  const script = `
    import { ESLint } from 'eslint';
    const eslint = new ESLint();
    const [{ messages }] = await eslint.lintText(process.argv[1], { filePath: 'test/unit/any.spec.mjs' });
    process.stdout.write(JSON.stringify(messages.map(({ ruleId }) => ruleId)));`;
  const args = ['--input-type=module', '-e', script, lines.join('\n')];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return (JSON.parse(stdout) as unknown[]).filter((rule) => rule === RULE).length;
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
        .filter((line) => /^\s*\/[/*] eslint-disable/.test(line) && line.includes(RULE)),
    );
    expect(off.filter((line) => !/ -- \w/.test(line))).toEqual([]);
  });
});

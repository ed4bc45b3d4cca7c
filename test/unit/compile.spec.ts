import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

describe('scripts/compile.mjs', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-data-compile-'));
    await cp('scripts/compile.mjs', at('scripts/compile.mjs'));
    await symlink(path.resolve('node_modules'), at('node_modules'));
    await Promise.all(['src', 'demo', 'dist/demo'].map((name) => mkdir(at(name), { recursive: true })));
    for (const name of ['main', 'operator', 'rest'])
      await write(`src/${name}.ts`, `export const is = '${name}';\n`);
    for (const name of ['openapi.json', 'openapi-operators.json', 'openapi-examples.json'])
      await write(name, '{}');
    await compile();
    // As scripts/bundle.mjs leaves it.
    await write('dist/bundle/all.js', 'bundled');
    for (const name of ['main', 'operator']) await write(`dist/src/${name}.js`, 'bundled');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const at = (name: string) => path.join(folder, name);
  async function write(name: string, text: string): Promise<void> {
    await mkdir(path.dirname(at(name)), { recursive: true });
    await writeFile(at(name), text);
  }
  const compile = (env = {}) =>
    promisify(execFile)(process.execPath, [at('scripts/compile.mjs'), 'src', 'demo'], {
      env: { ...process.env, COVERAGE: '', ...env },
    });
  const programs = async () => [
    existsSync(at('dist/bundle')),
    ...(await Promise.all(['main', 'operator'].map((name) => readFile(at(`dist/src/${name}.js`), 'utf8')))),
  ];

  it('keeps the bundle while no source has changed', async () => {
    await compile();
    expect(await programs()).toEqual([true, 'bundled', 'bundled']);
  });

  it('takes it away when a source has changed, so that nobody runs an old one', async () => {
    const later = new Date(Date.now() + 60_000);
    await utimes(at('src/rest.ts'), later, later);
    await compile();
    expect(await programs()).toEqual([
      false,
      expect.stringContaining("is = 'main'"),
      expect.stringContaining("is = 'operator'"),
    ]);
  });

  it('compiles again what does not count, or counts, what is executed when that is asked for', async () => {
    const counts = async () => (await readFile(at('dist/src/rest.js'), 'utf8')).includes('__coverage__');
    await compile({ COVERAGE: '1' });
    expect(await counts()).toBe(true);
    await compile();
    expect(await counts()).toBe(false);
  });
});

import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { listOf } from '../support/list-of.js';

const MESSAGE = 'The build in dist is older than the sources: npm run build builds it again.\n';
const [EARLIER, BUILT, LATER] = ['2026-01-01T08:00:00Z', '2026-01-01T09:00:00Z', '2026-01-01T10:00:00Z'];

describe('Before npm start, scripts/require-build.mjs', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-data-build-'));
    await mkdir(path.join(folder, 'scripts'));
    await copyFile('scripts/require-build.mjs', path.join(folder, 'scripts', 'require-build.mjs'));
    await mkdir(path.join(folder, 'node_modules', '@nestjs', 'core'), { recursive: true });
    await write('dist/src/main.js', EARLIER);
    await write('dist/src/operator.js', BUILT);
    await write('package.json', EARLIER);
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function write(name: string, changed: string): Promise<void> {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, '');
    await utimes(file, new Date(changed), new Date(changed));
  }
  const said = async (): Promise<{ stdout: string; stderr: string }> =>
    promisify(execFile)(process.execPath, [path.join(folder, 'scripts', 'require-build.mjs')]);

  const SOURCES = listOf(`
    src/access/users/users.service.ts, src/platform/web/assets/app.css, demo/pages/demo.page.tsx,
    migrations/index.ts, package.json, tsconfig.json, tsconfig.build.json, nest-cli.json
  `);

  it('says nothing if the build is newer than every source', async () => {
    for (const name of SOURCES) await write(name, EARLIER);
    await write('test/e2e/login.spec.ts', LATER);
    await write('README.md', LATER);
    expect(await said()).toEqual({ stdout: '', stderr: '' });
  });

  it.each(SOURCES)('says that the build is older if %s was changed since, and goes on', async (name) => {
    await write('src/main.ts', EARLIER);
    await write(name, LATER);
    expect(await said()).toEqual({ stdout: '', stderr: MESSAGE });
  });

  it('says nothing without sources, as in an image', async () => {
    await write('package.json', LATER);
    expect(await said()).toEqual({ stdout: '', stderr: '' });
  });
});

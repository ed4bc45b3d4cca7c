import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';

const run = promisify(execFile);
const LIST = 'src/start/features.ts';
/** What neither a checkout has nor the compiler leaves. */
const LEFT = /^(\.git|data|release|coverage|packages\/[^/]+\/dist|(.*\/)?node_modules)$/;

describe('The service without its features', () => {
  let database: TestDatabase;
  let folder: string;
  beforeAll(async () => (database = await createTestDatabase()));
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-data-features-'));
    // With what is compiled, so that only what changes is compiled anew.
    const filter = (from: string) => !LEFT.test(path.relative('.', from));
    await cp('.', folder, { recursive: true, preserveTimestamps: true, filter });
    await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  });
  afterEach(async () => {
    await SpawnedService.killAll();
    await rm(folder, { recursive: true });
  });
  afterAll(() => database.drop());

  const at = (name: string) => path.join(folder, name);
  const change = async (name: string, by: (text: string) => string) => {
    const before = await readFile(at(name), 'utf8');
    const after = by(before);
    expect(after).not.toBe(before);
    await writeFile(at(name), after);
  };

  /** Deletes its folder, its line in the list, and its tests (test/modules.json). */
  const takeOut = async (feature: string): Promise<void> => {
    await rm(at(`src/features/${feature}`), { recursive: true });
    const line = new RegExp(`^import \\{ (\\w+) \\} from '#features/${feature}/.*\\n`, 'm');
    await change(LIST, (text) => {
      const [, name] = line.exec(text)!;
      return text.replace(line, '').replace(new RegExp(`\\b${name}\\b,? ?`), '');
    });
    const modules = JSON.parse(await readFile('test/modules.json', 'utf8')) as Record<string, string[]>;
    const begins = new RegExp(`^(${modules[feature]!.join('|')}).*\\.spec\\.tsx?$`);
    const tests = (await readdir(at('test'), { recursive: true })).filter((name) =>
      begins.test(path.basename(name)),
    );
    expect(tests).not.toEqual([]);
    for (const name of tests) await rm(at(`test/${name}`));
  };
  const program = (...args: string[]) => run(process.execPath, args, { cwd: folder });

  it('compiles, passes lint, and starts', async () => {
    for (const feature of readdirSync('src/features')) await takeOut(feature);
    await program('node_modules/typescript-native/bin/tsc', '--noEmit', '--incremental', 'false');
    await run('node_modules/.bin/oxlint', { cwd: folder });
    await program('scripts/compile.mjs');
    const port = String(await freePort());
    const env = { PORT: port, BASE_URL: `http://127.0.0.1:${port}`, NODE_ENV: 'production' };
    const service = new SpawnedService(
      { ...env, DATABASE_URL: database.url, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY },
      { folder },
    );
    await service.ready();
    expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });
});

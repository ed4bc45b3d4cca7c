import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';
import { SpawnedService } from './spawned-service.js';
import type { TestDatabase } from './test-database.js';
import { TEST_ENCRYPTION_KEY } from './test-encryption-key.js';
import { until } from './until.js';

const run = promisify(execFile);
const LISTS = ['src/start/features.ts', 'src/start/feature-commands.ts'];
const MODULES = 'test/modules.json';
/** What neither a checkout has nor the compiler leaves. */
const LEFT = /^(\.git|data|release|coverage|packages\/[^/]+\/dist|(.*\/)?node_modules)$/;

/** A copy of the repository without some features. */
export class WithoutFeatures {
  private constructor(private readonly folder: string) {}

  /** Deletes the folder of each feature, its line in a list, and its tests. */
  static async make(features: string[]): Promise<WithoutFeatures> {
    const folder = await mkdtemp(path.join(tmpdir(), 'charging-data-features-'));
    // With what is compiled, so that only what changes is compiled anew.
    const filter = (from: string) => !LEFT.test(path.relative('.', from));
    await cp('.', folder, { recursive: true, preserveTimestamps: true, filter });
    await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
    const copy = new WithoutFeatures(folder);
    for (const feature of features) await copy.takeOut(feature);
    return copy;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }

  /** Checks the types, lint and the rules of imports. */
  async check(): Promise<void> {
    await this.program('node_modules/typescript-native/bin/tsc', '--noEmit', '--incremental', 'false');
    await run('node_modules/.bin/oxlint', { cwd: this.folder });
    const folders = ['src', 'demo', 'migrations', 'packages'];
    await run('node_modules/.bin/depcruise', [...folders, '--config', '.dependency-cruiser.cjs'], {
      cwd: this.folder,
      maxBuffer: 2 ** 26,
    });
  }

  /** Compiles what is left, and starts it on this database, and stops it once it is ready; returns its exit code. */
  async start(database: TestDatabase): Promise<number | null> {
    await this.program('scripts/compile.mjs');
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const service = new SpawnedService(
      {
        PORT: port,
        BASE_URL: url,
        NODE_ENV: 'production',
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      },
      { folder: this.folder },
    );
    await service.ready();
    await until('it says that it is ready', async () => (await fetch(`${url}/health/ready`)).status === 200);
    return service.stop();
  }

  /** Writes the OpenAPI documents of what is left, and who listens to what, and runs its unit tests but for these files. */
  async runUnitTests(leftOut: string[]): Promise<void> {
    await this.program('scripts/write-openapi.mjs');
    await this.program('scripts/compile.mjs');
    await this.program('scripts/write-architecture.mjs');
    const but = leftOut.flatMap((name) => ['--testPathIgnorePatterns', `/unit/${name}\\.spec\\.js$`]);
    await this.program('node_modules/jest/bin/jest.js', '--selectProjects', 'unit', ...but);
  }

  private async takeOut(feature: string): Promise<void> {
    await rm(this.at(`src/features/${feature}`), { recursive: true });
    const line = new RegExp(`^import \\{ (\\w+) \\} from '#features/${feature}/.*\\n`, 'm');
    const lists = await Promise.all(LISTS.map((list) => readFile(this.at(list), 'utf8')));
    for (const [index, text] of lists.entries()) {
      const [, name] = line.exec(text) ?? [];
      if (name === undefined) continue;
      const rest = text.replace(line, '').replace(new RegExp(`(\\.\\.\\.)?\\b${name}\\b,?\\s*`), '');
      await writeFile(this.at(LISTS[index]!), rest);
    }
    if (!lists.some((text) => line.test(text))) throw new Error(`${feature} is in no list`);
    let begins!: RegExp;
    await this.change(MODULES, (text) => {
      const { [feature]: tests, ...modules } = JSON.parse(text) as Record<string, string[]>;
      begins = new RegExp(`^(${tests!.join('|')}).*\\.spec\\.tsx?$`);
      return JSON.stringify(modules);
    });
    const tests = (await readdir(this.at('test'), { recursive: true })).filter((name) =>
      begins.test(path.basename(name)),
    );
    if (tests.length === 0) throw new Error(`${feature} has no tests`);
    for (const name of tests) await rm(this.at(`test/${name}`));
  }

  private at(name: string): string {
    return path.join(this.folder, name);
  }

  private async change(name: string, by: (text: string) => string): Promise<void> {
    const before = await readFile(this.at(name), 'utf8');
    const after = by(before);
    if (after === before) throw new Error(`${name} has nothing to take out`);
    await writeFile(this.at(name), after);
  }

  /** Its output is in the error, if it fails. */
  private async program(...args: string[]): Promise<void> {
    await run(process.execPath, args, { cwd: this.folder, maxBuffer: 2 ** 26 });
  }
}

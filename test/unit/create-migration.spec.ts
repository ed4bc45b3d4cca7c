import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

describe('npm run migration:create', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-data-migrations-'));
    await copyFile('migrations/index.ts', path.join(folder, 'index.ts'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const create = (...args: string[]) => run(process.execPath, ['scripts/create-migration.mjs', ...args]);

  it.each([[''], ['Add Names'], ['../names'], ['names.ts']])('refuses the name "%s"', async (name) => {
    await expect(create(name, folder)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Usage:'),
    });
  });

  it('writes an empty migration and lists it after all others', async () => {
    const { stdout } = await create('add-vehicle-names', folder);
    const [, time] = /^migrations\/(\d{13})-add-vehicle-names\.ts\n$/.exec(stdout)!;
    const migration = await readFile(path.join(folder, `${time}-add-vehicle-names.ts`), 'utf8');
    expect(migration).toContain(`export class AddVehicleNames${time} implements MigrationInterface {`);
    const index = await readFile(path.join(folder, 'index.ts'), 'utf8');
    expect(index).toContain(
      `import { AddVehicleNames${time} } from './${time}-add-vehicle-names.js';\n\n/**`,
    );
    expect(index).toMatch(new RegExp(`\\n  \\w+\\d{13},\\n  AddVehicleNames${time},\\n\\];`));
  });
});

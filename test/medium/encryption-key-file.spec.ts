import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SETTINGS = path.join(process.cwd(), 'dist', 'src', 'platform', 'config', 'settings.js');
const PRINT_KEY = `const { loadSettings } = await import(${JSON.stringify(SETTINGS)});
  process.stdout.write((await loadSettings(process.env)).encryptionKeys[0].toString('hex'));`;

it('processes that start at the same time create a single encryption key, and nothing else', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'charging-data-key-'));
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'development',
    DATABASE_URL: 'postgres://user:password@db.example:5432/charging',
    DATA_DIR: path.join(folder, 'data'),
  };
  try {
    const printed = await Promise.all(
      Array.from({ length: 4 }, () =>
        run(process.execPath, ['--input-type=module', '-e', PRINT_KEY], { env }),
      ),
    );
    const keys = printed.map(({ stdout }) => stdout);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(await readdir(env.DATA_DIR)).toEqual(['encryption-key']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

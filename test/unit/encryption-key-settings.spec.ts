import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadSettings } from '#platform/config/settings.js';
import { refusalOf } from '../support/settings-refusal.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64url');
const DATABASE_URL = 'postgres://user:password@db.example:5432/charging';
const DEVELOPMENT = { DATABASE_URL, ENCRYPTION_KEY: KEY };

describe('encryption keys among the settings', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), 'charging-settings-'))));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const bad = [
    'short',
    KEY.slice(0, 40),
    `${KEY}AAAA`,
    '!'.repeat(43),
    KEY.replace('A', '*'),
    `${KEY} ${KEY}`,
  ];

  it.each(bad)('are refused unless they are 32 bytes in base64, and are never shown: %#', async (value) => {
    for (const name of ['ENCRYPTION_KEY', 'ENCRYPTION_KEYS_PREVIOUS']) {
      const message = await refusalOf({ ...DEVELOPMENT, [name]: value });
      expect(message).toMatch(new RegExp(`^  ${name} must be .*32 .*base64`, 'm'));
      expect(message).not.toContain(value);
    }
  });

  it('seal only with the first one, but open with the previous ones too', async () => {
    const settings = await loadSettings({
      ...DEVELOPMENT,
      ENCRYPTION_KEYS_PREVIOUS: `${OTHER_KEY}, ${KEY}`,
    });
    expect(settings.encryptionKeys).toEqual([1, 2, 1].map((fill) => Buffer.alloc(32, fill)));
  });

  it('in a damaged file prevent the start, with a message that names the file and not the key', async () => {
    const file = path.join(await mkdtemp(path.join(folder, 'damaged-')), 'encryption-key');
    await writeFile(file, 'half-of-a-key');
    const message = await refusalOf({ NODE_ENV: 'development', DATABASE_URL, DATA_DIR: path.dirname(file) });
    expect(message).toMatch(/^DATA_DIR: /);
    expect(message).toContain(file);
    expect(message).not.toContain('half-of-a-key');
    expect(await readFile(file, 'utf8')).toBe('half-of-a-key');
  });

  it('in a file that cannot be read or made prevent the start, with a message that names the setting', async () => {
    const noFile = await mkdtemp(path.join(folder, 'no-file-'));
    await mkdir(path.join(noFile, 'encryption-key'));
    const noFolder = path.join(await mkdtemp(path.join(folder, 'no-folder-')), 'data');
    await writeFile(noFolder, '');
    for (const DATA_DIR of [noFile, noFolder, path.join(noFolder, 'below')]) {
      const message = await refusalOf({ NODE_ENV: 'development', DATABASE_URL, DATA_DIR });
      expect(message).toMatch(/^DATA_DIR: .* E[A-Z]+: /);
    }
  });

  it('are required, and not created silently, for an existing database if the environment is unspecified', async () => {
    const DATA_DIR = path.join(folder, 'not-said');
    expect(await refusalOf({ DATABASE_URL, DATA_DIR })).toMatch(/^  ENCRYPTION_KEY must .*DATABASE_URL/m);
    await expect(stat(DATA_DIR)).rejects.toThrow('ENOENT');
  });

  it('are created once in development, readable only by the file’s owner, and then kept', async () => {
    const DATA_DIR = path.join(folder, 'made', 'on', 'the', 'way');
    const first = await loadSettings({ NODE_ENV: 'development', DATABASE_URL, DATA_DIR });
    const second = await loadSettings({ NODE_ENV: 'development', DATABASE_URL, DATA_DIR });
    expect(first.encryptionKeys.map((key) => key.length)).toEqual([32]);
    expect(second.encryptionKeys).toEqual(first.encryptionKeys);
    expect((await stat(path.join(DATA_DIR, 'encryption-key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(DATA_DIR)).toEqual(['encryption-key']);
  });
});

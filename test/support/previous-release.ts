import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { atEndOfFile } from './between-files.js';

const RELEASES = 'test/releases';

/** A folder with the program of the release before this one (scripts/release.mjs), which uses the packages of this one. */
export async function unpackPreviousRelease(): Promise<string> {
  const [release, ...others] = await readdir(RELEASES);
  if (!release || others.length > 0)
    throw new Error(`${RELEASES} must have the previous release, and only that`);
  const folder = await mkdtemp(path.join(tmpdir(), 'charging-release-'));
  atEndOfFile(() => rm(folder, { recursive: true }));
  const archive = path.join(folder, 'release.tar');
  await writeFile(archive, brotliDecompressSync(await readFile(path.join(RELEASES, release))));
  await promisify(execFile)('tar', ['--extract', '--file', archive, '--directory', folder]);
  await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

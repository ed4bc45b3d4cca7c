import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { MIGRATIONS } from '../../migrations/index.js';
import { atEndOfFile } from './between-files.js';

export const RELEASES = 'test/releases';

/** What `npm run release` recorded: the SHA-256 of the program that is kept here, and of its migrations by their names. */
export interface Release {
  sha256: string;
  migrations: Record<string, string>;
}

/** By version, oldest first. */
export const releases = JSON.parse(readFileSync(path.join(RELEASES, 'releases.json'), 'utf8')) as Record<
  string,
  Release
>;

/** The version of the newest release that lacks a migration of this build, so that an upgrade runs some; or else the newest. */
export function previousRelease(): string {
  const versions = Object.keys(releases);
  const lacks = (version: string) =>
    MIGRATIONS.some(({ name }) => releases[version]!.migrations[name] === undefined);
  return versions.findLast(lacks) ?? versions.at(-1)!;
}

/** {@link unpackRelease}, for the tests of a file. */
export async function unpackPreviousRelease(): Promise<string> {
  const folder = await unpackRelease();
  atEndOfFile(() => rm(folder, { recursive: true }));
  return folder;
}

/** A new folder with the program of {@link previousRelease} (scripts/release.mjs), which uses the packages of this build. */
export async function unpackRelease(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'charging-release-'));
  const archive = path.join(folder, 'release.tar');
  const kept = await readFile(path.join(RELEASES, `${previousRelease()}.tar.br`));
  await writeFile(archive, brotliDecompressSync(kept));
  await promisify(execFile)('tar', ['--extract', '--file', archive, '--directory', folder]);
  await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

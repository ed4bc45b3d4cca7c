// Compiles the packages in packages/, each by its own tsconfig.build.json, and packs the command line program into
// src/platform/web/assets/downloads/, from where the service offers it (src/platform/http/server/downloads.ts).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../packages');
const native = createRequire(import.meta.url).resolve('typescript-native/package.json');
const tsc = path.join(path.dirname(native), 'bin/tsc');

for (const name of existsSync(root) ? readdirSync(root) : []) {
  const folder = path.join(root, name);
  if (!existsSync(path.join(folder, 'tsconfig.build.json'))) continue;
  rmSync(path.join(folder, 'dist'), { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: folder,
    stdio: 'inherit',
  });
  process.exitCode ||= status ?? 1;
}

const program = path.join(root, 'cli');
if (!process.exitCode && existsSync(program)) {
  const downloads = path.join(import.meta.dirname, '../src/platform/web/assets/downloads');
  mkdirSync(downloads, { recursive: true });
  // The same file for the same contents: npm leaves out times and owners.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', downloads];
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: program, encoding: 'utf8' }));
  renameSync(path.join(downloads, filename), path.join(downloads, 'charging-data.tgz'));
}

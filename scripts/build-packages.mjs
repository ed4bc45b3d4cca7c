// Compiles the packages in packages/, each by its own tsconfig.build.json. Where they are not, as in the container image, there is
// nothing to do: the service does not need them.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
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

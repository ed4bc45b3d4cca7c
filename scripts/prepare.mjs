// `npm ci` runs this at its end: it compiles the service and the demonstration without checking types. `npm run build` (`--checked`), the
// build of a release, does the same anew with a compiler that checks them. Where the development packages are left out
// (`npm ci --omit=dev`), it prints a note and succeeds: an installation that gets `dist/` from elsewhere needs nothing more.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const isChecked = process.argv.includes('--checked');

let compiler;
try {
  const { resolve } = createRequire(import.meta.url);
  resolve('@swc/core');
  compiler = path.join(path.dirname(resolve('typescript-native/package.json')), 'bin/tsc');
} catch {
  process.exitCode = isChecked ? 1 : 0;
  process.stderr.write(
    'Nothing was built: the development packages are left out. npm ci installs them and builds.\n',
  );
}
const STEPS = [
  ['scripts/copy-api-reference.mjs'],
  ['scripts/build-packages.mjs'],
  ...(isChecked ? [[compiler, '-p', 'tsconfig.build.json']] : []),
  // After the compiler that checks types, it copies what is no code.
  ['scripts/compile.mjs', 'src', 'demo', 'migrations'],
  ['scripts/bundle.mjs'],
];
if (compiler && isChecked) rmSync(path.join(root, 'dist'), { recursive: true, force: true });
for (const step of compiler ? STEPS : [])
  process.exitCode ||= spawnSync(process.execPath, step, { cwd: root, stdio: 'inherit' }).status ?? 1;

// `npm ci` runs this at its end: it compiles the service and the demonstration without checking types (`npm run build` is the build of
// a release). Where the development packages are left out (`npm ci --omit=dev`), it prints a note and succeeds: an installation that
// gets `dist/` from elsewhere needs nothing more.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

let canBuild = true;
try {
  const { resolve } = createRequire(import.meta.url);
  ['@swc/core', 'typescript-native/package.json'].forEach((name) => resolve(name));
} catch {
  canBuild = false;
  process.stderr.write(
    'Nothing was built: the development packages are left out. npm ci installs them and builds.\n',
  );
}
const STEPS = [
  ['copy-api-reference'],
  ['build-packages'],
  ['compile', 'src', 'demo', 'migrations'],
  ['bundle'],
];
for (const [name, ...folders] of canBuild ? STEPS : []) {
  const script = [`scripts/${name}.mjs`, ...folders];
  process.exitCode ||= spawnSync(process.execPath, script, { stdio: 'inherit' }).status ?? 1;
}

// `npm ci` runs this at its end: the build. Where the development packages are left out (`npm ci --omit=dev`), it prints a note
// and succeeds: an installation that gets `dist/` from elsewhere needs nothing more.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
let nest;
try {
  nest = require.resolve('@nestjs/cli/bin/nest.js');
  require.resolve('typescript');
} catch {
  process.stderr.write(
    'Nothing was built: the development packages are left out. npm ci installs them and builds.\n',
  );
}
for (const step of nest
  ? [['scripts/copy-api-reference.mjs'], [nest, 'build'], ['scripts/build-packages.mjs']]
  : []) {
  process.exitCode ||= spawnSync(process.execPath, step, { stdio: 'inherit' }).status ?? 1;
}

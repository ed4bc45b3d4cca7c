// What `npm ci` runs at its end: the build. Where what builds was left out (`npm ci --omit=dev`) it says so and goes on: whoever
// brings `dist/` from elsewhere needs nothing more.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
let nest;
try {
  nest = require.resolve('@nestjs/cli/bin/nest.js');
  require.resolve('typescript');
} catch {
  process.stderr.write(
    'Nothing was built: the development packages are left out. npm ci brings them and builds.\n',
  );
}
if (nest) process.exitCode = spawnSync(process.execPath, [nest, 'build'], { stdio: 'inherit' }).status ?? 1;

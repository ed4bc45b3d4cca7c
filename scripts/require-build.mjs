// Runs before `npm start` and `npm run operator`: checks that there is something to start.
import { existsSync } from 'node:fs';

const missing = ['dist/src/main.js', 'dist/src/operator.js', 'node_modules/@nestjs/core'].filter(
  (file) => !existsSync(new URL(`../${file}`, import.meta.url)),
);
if (missing.length > 0) {
  process.stderr.write(
    `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing: run npm ci, which installs and builds, ` +
      'or npm run build after npm ci --ignore-scripts.\n',
  );
  process.exitCode = 1;
}

// Runs before `npm start` and `npm run operator`: checks that there is something to start, and says so if it is older than the
// sources.
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const at = (file) => path.join(root, file);

/** When the newest of these files was last changed; folders stand for the files in them. */
const lastChanged = (names) =>
  Math.max(
    0,
    ...names
      .filter((name) => existsSync(at(name)))
      .flatMap((name) =>
        statSync(at(name)).isFile()
          ? [at(name)]
          : readdirSync(at(name), { recursive: true, withFileTypes: true })
              .filter((entry) => entry.isFile())
              .map((entry) => path.join(entry.parentPath, entry.name)),
      )
      .map((file) => statSync(file).mtimeMs),
  );

const missing = ['dist/src/main.js', 'dist/src/operator.js', 'node_modules/@nestjs/core'].filter(
  (file) => !existsSync(at(file)),
);
if (missing.length > 0) {
  process.stderr.write(
    `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing: run npm ci, which installs and builds, ` +
      'or npm run build after npm ci --ignore-scripts.\n',
  );
  process.exitCode = 1;
} else if (existsSync(at('src'))) {
  const settings = readdirSync(root).filter((name) => /^(package|nest-cli|tsconfig.*)\.json$/.test(name));
  // With `npm run start:dev` only changed files are built again, so the newest file counts.
  if (lastChanged(['src', 'demo', 'migrations', ...settings]) > lastChanged(['dist'])) {
    process.stderr.write('The build in dist is older than the sources: npm run build builds it again.\n');
  }
}

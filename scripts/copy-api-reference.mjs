// Writes the browser script of the API reference, compressed too, and its licence to src/platform/web/assets/vendor/. The build runs
// this first; it does nothing if they are there already. The package is needed for building only.
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const require = createRequire(import.meta.url);
const folder = path.join(import.meta.dirname, '../src/platform/web/assets/vendor');
const source = path.dirname(path.dirname(require.resolve('@scalar/fastify-api-reference')));
const { version } = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8'));
const file = path.join(folder, `scalar-${version}.js`);

// The licence is written last.
if (!existsSync(file) || !existsSync(path.join(folder, 'scalar-LICENSE'))) {
  // The script is one string in the package's program. The rest of that is not run: it needs a newer Node.js than the service.
  const program = readFileSync(path.join(source, 'dist/index.js'), 'utf8');
  const [, literal] = /^var standalone_default = (".*");$/m.exec(program) ?? [];
  if (!literal) throw new Error('The package of the API reference no longer holds its script as one string.');
  const body = runInNewContext(literal);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await writeFile(file, body);
  await writeFile(`${file}.br`, brotliCompressSync(body, quality));
  await writeFile(`${file}.gz`, gzipSync(body, { level: 9 }));
  await copyFile(path.join(source, 'LICENSE'), path.join(folder, 'scalar-LICENSE'));
}

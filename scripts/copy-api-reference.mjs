// Writes the browser script of the API reference, compressed too, and its licence to src/web/assets/vendor/. The build runs
// this first; it does nothing if they are there already. The package is needed for building only.
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import fastify from 'fastify';

const require = createRequire(import.meta.url);
const folder = path.join(import.meta.dirname, '../src/web/assets/vendor');
const source = path.dirname(path.dirname(require.resolve('@scalar/fastify-api-reference')));
const { version } = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8'));
const file = path.join(folder, `scalar-${version}.js`);

// The licence is written last.
if (!existsSync(file) || !existsSync(path.join(folder, 'scalar-LICENSE'))) {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(reference, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { statusCode, body } = await server.inject('/js/scalar.js');
  if (statusCode !== 200) throw new Error('The package of the API reference no longer serves its script.');
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await writeFile(file, body);
  await writeFile(`${file}.br`, brotliCompressSync(body, quality));
  await writeFile(`${file}.gz`, gzipSync(body, { level: 9 }));
  await copyFile(path.join(source, 'LICENSE'), path.join(folder, 'scalar-LICENSE'));
}

// Compiles the service, the demonstration, the packages and all tests to dist/, or only the folders that are named, without checking
// types (`npm run check:static` does that): only what is older than its source, so that a change takes less than a second. What
// `npm run build` has built stays as it is.
import swc from '@swc/core';
import { createRequire } from 'node:module';
import { copyFile, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const ALL = ['src', 'demo', 'migrations', 'test', 'packages'];
const FOLDERS = process.argv.length > 2 ? process.argv.slice(2) : ALL;
const LEFT_OUT = /^(test\/sdk|packages\/[^/]+\/(dist|node_modules))\/|\.d\.ts$|tsconfig/;
const COPIED = /\.(json|md|mjs)$|^src\/platform\/web\/assets\//;
/** `COVERAGE=1` counts what the tests execute, for jest's own coverage reports. */
const coverage = process.env.COVERAGE ? createRequire(import.meta.url)('istanbul-lib-instrument') : undefined;

const OPTIONS = {
  jsc: {
    parser: { syntax: 'typescript', tsx: true, decorators: true },
    transform: {
      legacyDecorator: true,
      decoratorMetadata: true,
      react: { runtime: 'automatic', importSource: 'preact' },
    },
    target: 'es2022',
    experimental: { keepImportAttributes: true },
  },
  module: { type: 'es6' },
  sourceMaps: true,
  swcrc: false,
  configFile: false,
};

const changedAt = async (file) => (await stat(file).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
const filesIn = async (folder) =>
  (await readdir(path.join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((file) => !file.includes('node_modules/') && !LEFT_OUT.test(file));

const sources = [
  ...(await Promise.all(FOLDERS.map(filesIn))).flat(),
  'openapi.json',
  'openapi-operators.json',
  'openapi-examples.json',
];
const isCode = (file) => /\.tsx?$/.test(file);
const outputOf = (file) => (isCode(file) ? file.replace(/\.tsx?$/, '.js') : file);
const expected = new Set();
/** What was compiled the other way, counting or not, is compiled anew. */
const isOfTheOtherKind = async (file) =>
  file.startsWith('src/') &&
  isCode(file) &&
  (await readFile(path.join(dist, outputOf(file)), 'utf8')).includes('__coverage__') !== Boolean(coverage);

async function compile(file) {
  const output = outputOf(file);
  expected.add(output);
  const [from, to] = [path.join(root, file), path.join(dist, output)];
  if ((await changedAt(to)) > (await changedAt(from)) && !(await isOfTheOtherKind(file))) return 0;
  await mkdir(path.dirname(to), { recursive: true });
  if (!isCode(file)) {
    await copyFile(from, to);
    return 1;
  }
  const { code: transformed, map } = await swc.transformFile(from, { ...OPTIONS, filename: from });
  let code = transformed;
  if (coverage && file.startsWith('src/')) {
    const instrumenter = coverage.createInstrumenter({ esModules: true, produceSourceMap: false });
    code = instrumenter.instrumentSync(code, from, JSON.parse(map));
  }
  await writeFile(`${to}.map`, map);
  await writeFile(to, `${code}//# sourceMappingURL=${path.basename(to)}.map\n`);
  return 1;
}

const wanted = sources.filter((file) => isCode(file) || COPIED.test(file));
const counts = await Promise.all(wanted.map(compile));

// The bundle (scripts/bundle.mjs) is not of these sources any more, and has replaced the programs that start it.
const hasChanged = counts.some((count, n) => count > 0 && !/^(test|packages)\//.test(wanted[n]));
if (hasChanged && (await changedAt(path.join(dist, 'bundle'))) > 0) {
  await rm(path.join(dist, 'bundle'), { recursive: true });
  for (const program of ['src/main.ts', 'src/operator.ts']) {
    await rm(path.join(dist, outputOf(program)));
    await compile(program);
  }
}

// Of a source that was deleted or renamed.
for (const folder of FOLDERS) {
  const built = await readdir(path.join(dist, folder), { recursive: true, withFileTypes: true });
  for (const entry of built.filter((each) => each.isFile() && /\.js$/.test(each.name))) {
    const output = path.relative(dist, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/');
    if (!expected.has(output) && !output.includes('/assets/')) {
      await Promise.all(['', '.map'].map((end) => rm(path.join(dist, output + end), { force: true })));
    }
  }
}
const count = counts.reduce((sum, each) => sum + each, 0);
if (count > 0) process.stdout.write(`compiled ${count} of ${wanted.length} files\n`);

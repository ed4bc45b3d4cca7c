// Bundles `dist/src/main.js` and `dist/src/operator.js` with the packages they use: a start reads fifty files instead of 3,700, which
// takes a quarter less of the processor. The names of functions and of sources stay readable (decision 35). The next
// compilation that changes something takes the bundle away.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { rolldown } from 'rolldown';

const dist = path.join(import.meta.dirname, '../dist');

/**
 * Packages with machine code, packages that find files beside themselves, the driver that tracing patches, and the demonstration's.
 * passport-http calls `new Buffer`, of which Node.js warns outside `node_modules`.
 */
const APART = [
  /^@node-rs\/argon2/,
  /^sharp$/,
  /^pg($|\/)/,
  /^@picocss/,
  /^swagger-ui-dist/,
  /^oidc-provider$/,
  /^passport-http$/,
];

/** Optional parts of packages, of other databases for example, are not installed. */
const EXPECTED = new Set(['UNRESOLVED_IMPORT', 'EVAL', 'COMMONJS_VARIABLE_IN_ESM', 'CIRCULAR_DEPENDENCY']);

/**
 * Some packages `require` others while they load, which the bundler leaves alone: a second copy of these would be loaded from some 1,500
 * files, with a memory of its own.
 */
const oneCopyOfEach = {
  name: 'one copy of each package',
  transform(code) {
    if (!/\bconst require = createRequire\(import\.meta\.url\)/.test(code)) return null;
    const imports = new Map();
    const joined = code.replaceAll(/\brequire\('([^']+)'\)/g, (call, name) => {
      if (APART.some((apart) => apart.test(name)) || !isInstalled(name)) return call;
      if (!imports.has(name)) imports.set(name, `required${imports.size}`);
      return imports.get(name);
    });
    const lines = [...imports].map(([name, local]) => `import * as ${local} from '${name}';\n`);
    return { code: `${lines.join('')}${joined}`, map: null };
  },
};

if (!existsSync(path.join(dist, 'bundle'))) {
  const bundle = await rolldown({
    input: ['main', 'operator'].map((name) => path.join(dist, 'src', `${name}.js`)),
    platform: 'node',
    external: APART,
    plugins: [oneCopyOfEach],
    onLog: (level, log, defaultHandler) => EXPECTED.has(log.code) || defaultHandler(level, log),
  });
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: 'src/[name].js',
    chunkFileNames: 'bundle/[name]-[hash].js',
    comments: false,
  });
  const write = (parts) =>
    Promise.all(parts.map(({ fileName, code }) => writeFile(path.join(dist, fileName), inAscii(code))));
  await mkdir(path.join(dist, 'bundle'));
  // The programs last: a run that is killed leaves those of the compiler.
  await write(output.filter(({ isEntry }) => !isEntry));
  await write(output.filter(({ isEntry }) => isEntry));
}

function isInstalled(name) {
  try {
    return Boolean(createRequire(import.meta.url).resolve(name));
  } catch {
    return false;
  }
}

/** A source with other characters takes twice the memory, all of it. */
function inAscii(code) {
  return code.replace(/[^\x00-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

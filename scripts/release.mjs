// `npm run release`: writes what a release consists of to `release/`, from a build made now: the program, its list of parts (SBOM,
// CycloneDX), where both come from (SLSA provenance, to be signed by who publishes them) and the checksums. The program is kept in
// `test/releases/` too, where later builds are tested beside it, with its digest and those of its migrations: none of them ever
// changes. The version is the one in package.json, which CHANGELOG.md must know.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { programPackageOf } from './program-package.mjs';
import { digestOf, provenanceOf } from './provenance.mjs';

const root = path.join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const { name, version } = manifest;
const run = (command, args) =>
  execFileSync(command, args, { cwd: root, maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'inherit'] });

if (!readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').includes(`\n## [${version}] - `)) {
  const why = `CHANGELOG.md has no section for the version in package.json: ## [${version}] - date\n`;
  await new Promise((resolve) => process.stderr.write(why, resolve));
  process.exit(1);
}
const releases = path.join(root, 'test/releases');
const recorded = path.join(releases, 'releases.json');
const released = JSON.parse(readFileSync(recorded, 'utf8'));
if (released[version]) {
  process.stderr.write(
    `${version} is released, and a release never changes: raise the version in package.json\n`,
  );
  process.exit(1);
}
run('npm', ['run', '--silent', 'build']);
run('node', ['scripts/record-migrations.mjs', '--check']);

const release = path.join(root, 'release');
rmSync(release, { recursive: true, force: true });
mkdirSync(release);
// Its package.json is another one than ours, so it stands aside until it is packed.
const aside = path.join(release, 'program');
mkdirSync(aside);
writeFileSync(
  path.join(aside, 'package.json'),
  `${JSON.stringify(programPackageOf(manifest), undefined, 2)}\n`,
);

/** What runs: the bundle with the files it reads; `npm ci --omit=dev` beside it gets the packages that are not in the bundle. */
const PROGRAM = [
  'package-lock.json',
  ...[
    'bundle',
    'src/main.js',
    'src/operator.js',
    'src/platform/language/catalogs',
    'src/platform/web/assets',
  ].map((part) => `dist/${part}`),
  ...readdirSync(path.join(root, 'dist/src/entrypoints/api-docs'), { recursive: true })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `dist/src/entrypoints/api-docs/${file}`),
  ...readdirSync(path.join(root, 'dist/src/features'), { recursive: true })
    .filter((file) => /\/catalogs\/.*\.json$/.test(file))
    .map((file) => `dist/src/features/${file}`),
];
/** The same for the same build: no times, no owners, in one order. */
const packed = (files, leftOut = []) =>
  run('tar', [
    ...['--create', '--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'],
    ...leftOut.map((pattern) => `--exclude=${pattern}`),
    ...[`--directory=${aside}`, 'package.json', `--directory=${root}`, ...files],
  ]);

const artefacts = {
  [`${name}-${version}.tgz`]: gzipSync(packed(PROGRAM), { level: 9 }),
  [`${name}-${version}.cdx.json`]: run('npm', [
    'sbom',
    '--sbom-format=cyclonedx',
    '--omit=dev',
    '--omit=peer',
  ]),
};
const provenance = provenanceOf({
  name,
  version,
  artefacts,
  lockFile: readFileSync(path.join(root, 'package-lock.json')),
  commit: run('git', ['rev-parse', 'HEAD']).toString().trim(),
  isChanged:
    run('git', ['status', '--porcelain', '--untracked-files=no', '--', '.', ':!test/releases']).length > 0,
  builder: process.env.BUILDER_ID,
});
artefacts[`${name}-${version}.provenance.json`] = `${JSON.stringify(provenance, undefined, 2)}\n`;
for (const [file, content] of Object.entries(artefacts)) writeFileSync(path.join(release, file), content);
const sums = Object.entries(artefacts).map(([file, content]) => `${digestOf(content)}  ${file}\n`);
writeFileSync(path.join(release, 'SHA256SUMS'), sums.join(''));

// Without what only a person would see.
const kept = packed(PROGRAM, [
  'dist/src/platform/web/assets/vendor',
  'dist/src/platform/web/assets/downloads',
  'dist/bundle/demonstration-*',
  'package-lock.json',
]);
rmSync(aside, { recursive: true });
const program = brotliCompressSync(kept, {
  params: {
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: kept.length,
  },
});
writeFileSync(path.join(releases, `${version}.tar.br`), program, { flag: 'wx' });
const migrations = JSON.parse(readFileSync(path.join(root, 'migrations/digests.json'), 'utf8'));
released[version] = { sha256: digestOf(program), migrations };
writeFileSync(recorded, `${JSON.stringify(released, undefined, 2)}\n`);
process.stdout.write(`${sums.join('')}`);

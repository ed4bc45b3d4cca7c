// Lints both OpenAPI documents with Redocly (redocly.yaml); a warning fails too. A document that passed is not read again until it, the
// rules or the packages change. A unit test checks that the files are what the controllers say.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const file = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const DOCUMENTS = ['openapi.json', 'openapi-operators.json'];
const sources = await Promise.all(DOCUMENTS.map((name) => readFile(file(name), 'utf8')));

const digest = createHash('sha256');
for (const source of sources) digest.update(source);
for (const name of ['redocly.yaml', 'package-lock.json', 'scripts/lint-openapi.mjs'])
  digest.update(await readFile(file(name)));
const state = digest.digest('hex');
const cache = file('node_modules/.cache/lint-openapi');

if ((await readFile(cache, 'utf8').catch(() => '')) !== state) {
  for (const [n, name] of DOCUMENTS.entries()) {
    for (const problem of await redocly(name, sources[n])) {
      process.stderr.write(`${name}: ${problem}\n`);
      process.exitCode = 1;
    }
  }
  if (!process.exitCode) {
    await mkdir(file('node_modules/.cache'), { recursive: true });
    await writeFile(cache, state);
  }
}

async function redocly(name, source) {
  const { lintFromString, loadConfig } = await import('@redocly/openapi-core');
  const config = await loadConfig({ configPath: file('redocly.yaml') });
  const problems = await lintFromString({ source, absoluteRef: file(name), config });
  return problems.map(
    ({ location, ruleId, message }) => `${location[0]?.pointer ?? '#/'} ${message} (${ruleId})`,
  );
}

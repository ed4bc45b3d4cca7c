import { existsSync, readdirSync, readFileSync } from 'node:fs';

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs', 'docs/contract', 'docs/decisions'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];
const CITED = /\btest\/(?:browser|e2e|faults|medium|properties|support|unit)\/[\w./-]*\w/g;

describe('A document', () => {
  it.each(DOCUMENTS)('%s names only tests that exist', (document) => {
    const cited = readFileSync(document, 'utf8').match(CITED) ?? [];
    const missing = cited.filter(
      (path) => !['', '.ts', '.tsx', '.spec.ts'].some((end) => existsSync(`${path}${end}`)),
    );
    expect(missing).toEqual([]);
  });
});

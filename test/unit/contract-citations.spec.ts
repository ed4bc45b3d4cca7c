import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { SETTING_NAMES } from '#platform/config/process-environment.js';

// "contract §6, §8, §9" and "source specification §2.4", also where a line break in a comment splits them.
const CITATION =
  /(contract|specification)(?:\s|\*|\/\/)+(§\d+(?:\.\d+)*(?:(?:, | or | and )§\d+(?:\.\d+)*)*)/gi;
const SECTION = /^#{2,3} (\d+(?:\.\d+)*)/gm;

const CONTRACT = ['docs/contract.md', ...readdirSync('docs/contract').map((name) => `docs/contract/${name}`)];
const DOCUMENTS = { contract: CONTRACT, specification: ['docs/source-specification.md'] } as const;

interface Citation {
  file: string;
  documents: readonly string[];
  section: string;
}

/** The citations in the sources, one for each section. */
function citationsIn(folder: string): Citation[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.tsx?$/.test(entry.name),
  );
  return files.flatMap(({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return [...readFileSync(file, 'utf8').matchAll(CITATION)].flatMap(([, document, sections]) =>
      [...sections!.matchAll(/§([\d.]+\d|\d)/g)].map(([, section]) => ({
        file,
        documents: DOCUMENTS[document!.toLowerCase() as keyof typeof DOCUMENTS],
        section: section!,
      })),
    );
  });
}

/** The numbers of the sections, in the order in which they stand. */
const sectionsOf = (documents: readonly string[]): string[] =>
  documents.flatMap((document) =>
    [...readFileSync(document, 'utf8').matchAll(SECTION)].map(([, section]) => section!),
  );

/** The part of a document under a heading, up to the next heading of the same level. */
function partOf(document: string, heading: string): string {
  const text = readFileSync(document, 'utf8');
  const begin = text.indexOf(`\n${heading}\n`);
  if (begin < 0) throw new Error(`${document} has no heading "${heading}"`);
  const level = heading.slice(0, heading.indexOf(' ') + 1);
  const end = text.indexOf(`\n${level}`, begin + 1 + heading.length);
  return text.slice(begin, end < 0 ? undefined : end);
}

/** The settings in the first column of the tables of a text. */
const settingsIn = (part: string): string[] =>
  [...part.matchAll(/^\| (`[A-Z][^|]*)\|/gm)]
    .flatMap(([, cell]) => [...cell!.matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name]) => name!))
    .sort();

const SETTINGS = [...SETTING_NAMES].sort();

describe('The contract', () => {
  it('has each section in one document, and all of them in its index', () => {
    const sections = sectionsOf(CONTRACT).filter((section) => !section.includes('.'));
    expect(sections.map(Number).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 26 }, (_, index) => index + 1),
    );
    const links = readFileSync('docs/contract.md', 'utf8').matchAll(/\]\((contract\/\w+\.md)#(\d+)-/g);
    const wrong = [...links].filter(
      ([, document, section]) => !sectionsOf([`docs/${document}`]).includes(section!),
    );
    expect(wrong).toEqual([]);
  });

  it.each(['src', 'test', 'migrations'])('has every section that the files in %s cite', (folder) => {
    const citations = citationsIn(folder);
    expect(citations.length).toBeGreaterThan(1);
    const missing = citations.filter(({ documents, section }) => !sectionsOf(documents).includes(section));
    expect(missing).toEqual([]);
  });

  it('lists all settings in §14', () => {
    expect(SETTINGS.length).toBeGreaterThan(30);
    expect(settingsIn(partOf('docs/contract/operators.md', '## 14. Operation'))).toEqual(SETTINGS);
  });
});

describe('all settings', () => {
  it('are in .env.example, with or without a value', () => {
    const named = [...readFileSync('.env.example', 'utf8').matchAll(/^([A-Z][A-Z0-9_]*)=/gm)];
    expect(named.map(([, name]) => name).sort()).toEqual(SETTINGS);
  });

  it('are explained in docs/deployment.md', () => {
    expect(settingsIn(partOf('docs/deployment.md', '## Settings'))).toEqual(SETTINGS);
  });
});

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name);
const wings = foldersIn('src');
/** `access/users`; what stands in a wing itself is a module of its own: `start`. */
const modules = [
  'start',
  ...wings.flatMap((wing) => foldersIn(`src/${wing}`).map((name) => `${wing}/${name}`)),
];
const moduleOf = (file: string): string => {
  const [wing, name] = file.split('/');
  return modules.includes(`${wing}/${name}`) ? `${wing}/${name}` : wing!;
};

/** The modules that each module imports, and the imports of another module that do not begin with `#`. */
function importsOfModules(): { imports: Map<string, Set<string>>; relative: string[] } {
  const imports = new Map(modules.map((name) => [name, new Set<string>()]));
  const relative: string[] = [];
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^[^/]+\/.+\.tsx?$/.test(file),
  );
  for (const file of files) {
    const text = readFileSync(`src/${file}`, 'utf8');
    for (const [, spec] of text.matchAll(/\b(?:from|import) ?\(?'([#.][^']+)'/g)) {
      const isRelative = spec!.startsWith('.');
      const target = moduleOf(isRelative ? path.join(path.dirname(file), spec!) : spec!.slice(1));
      if (target === moduleOf(file)) continue;
      imports.get(moduleOf(file))!.add(target);
      if (isRelative && modules.includes(target)) relative.push(`${file}: ${spec}`);
    }
  }
  return { imports, relative };
}

describe('The wings', () => {
  it('are named in the rules of imports and in package.json', () => {
    const [listed] = /(?<=const WINGS = )\[.*?\](?=;)/s.exec(
      readFileSync('.dependency-cruiser.cjs', 'utf8'),
    )!;
    const { imports } = JSON.parse(readFileSync('package.json', 'utf8')) as { imports: object };
    const named = [...listed.matchAll(/'(\w+)'/g)].map(([, name]) => name!);
    expect([...named].sort()).toEqual([...wings].sort());
    expect(Object.keys(imports)).toEqual(named.map((name) => `#${name}/*`));
  });
});

describe('The modules', () => {
  const architecture = readFileSync('docs/architecture.md', 'utf8');
  const { imports, relative } = importsOfModules();

  it.each(modules.map((name) => name.split('/').at(-1)!))('%s is in the diagram and in the table', (name) => {
    expect(architecture).toContain(`["${name}`);
    expect(architecture).toMatch(new RegExp(`^\\|[^|]*\`${name}\``, 'm'));
  });

  it('import each other by their wings (`#access/users/…`), not by a way through folders', () => {
    expect(relative).toEqual([]);
  });

  it('import each other in no circle', () => {
    expect([...imports.values()].reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(100);
    // What is in no circle, because nothing is left that it imports, or that imports it, goes first.
    const left = new Map(imports);
    const leftOf = (name: string) => [...left.get(name)!].filter((other) => left.has(other));
    const isIn = (name: string) => [...left.values()].some((used) => used.has(name));
    const isFree = (name: string) => leftOf(name).length === 0 || !isIn(name);
    for (let free: string | undefined; (free = [...left.keys()].find(isFree));) left.delete(free);
    const circles = [...left.keys()].map((name) => [name, leftOf(name)]);
    expect(circles).toEqual([]);
  });
});

describe('The tables of domain events and questions', () => {
  it('follow from the code (node scripts/write-architecture.mjs)', async () => {
    await promisify(execFile)(process.execPath, ['scripts/write-architecture.mjs', '--check']);
  });
});

describe('The list of decisions', () => {
  it('has each of them once, in order, under its number', () => {
    const listed = [
      ...readFileSync('docs/architecture.md', 'utf8').matchAll(
        /^\| \[(\d+): [^\]]+\]\(decisions\/([^)]+)\)/gm,
      ),
    ].map(([, number, file]) => [Number(number), file]);
    const kept = readdirSync('docs/decisions').sort();
    expect(listed).toEqual(kept.map((file) => [Number(file.slice(0, 4)), file]));
  });

  it('has each that another text refers to', () => {
    const texts = ['docs', 'docs/decisions'].flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.md'))
        .map((name) => readFileSync(`${folder}/${name}`, 'utf8')),
    );
    const named = texts.flatMap((text) =>
      [...text.matchAll(/\[?decision (\d+)\b/gi)].map(([, number]) => Number(number)),
    );
    const kept = readdirSync('docs/decisions').map((file) => Number(file.slice(0, 4)));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((number) => !kept.includes(number))).toEqual([]);
  });
});

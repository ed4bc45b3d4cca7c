import { readdirSync, readFileSync } from 'node:fs';

const modules = readdirSync('src', { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name);

/** A module without a layer may be imported from anywhere, and import anything. */
describe('The modules', () => {
  const architecture = readFileSync('docs/architecture.md', 'utf8');

  it.each(modules)('%s is in the diagram and in the table', (name) => {
    expect(architecture).toContain(`["${name}`);
    expect(architecture).toMatch(new RegExp(`^\\|[^|]*\`${name}\``, 'm'));
  });

  it.each(modules)('%s has a layer', (name) => {
    const [layers] = /const LAYERS = \[.*?\n\];/s.exec(readFileSync('.dependency-cruiser.cjs', 'utf8'))!;
    expect(layers).toContain(`'${name}'`);
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

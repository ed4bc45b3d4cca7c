import { existsSync, readdirSync, readFileSync } from 'node:fs';

const modules = JSON.parse(readFileSync('test/modules.json', 'utf8')) as Record<string, string[]>;
const filesIn = (folder: string): string[] =>
  readdirSync(`test/${folder}`).filter((name) => /\.spec\.tsx?$/.test(name));
const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name);
const all = ['browser', 'e2e', 'faults', 'medium', 'properties', 'unit'].flatMap(filesIn);

describe('The list of the files about each module', () => {
  it('knows the modules of the service, and no other', () => {
    const known = ['start', ...foldersIn('src').flatMap((wing) => foldersIn(`src/${wing}`))];
    expect(Object.keys(modules).filter((name) => name !== 'demo')).toEqual(known.sort());
    expect(existsSync('demo')).toBe(true);
  });

  it('has every file about the behaviour of the service', () => {
    const beginnings = Object.values(modules).flat();
    const lost = filesIn('e2e').filter((name) => !beginnings.some((beginning) => name.startsWith(beginning)));
    expect(lost).toEqual([]);
  });

  it('has no beginning with which no file begins', () => {
    const idle = Object.values(modules)
      .flat()
      .filter((beginning) => !all.some((name) => name.startsWith(beginning)));
    expect(idle).toEqual([]);
  });
});

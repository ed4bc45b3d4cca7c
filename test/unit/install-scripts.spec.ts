import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Locked {
  name?: string;
  resolved?: string;
  hasInstallScript?: boolean;
}

const read = (file: string) => JSON.parse(readFileSync(path.join(process.cwd(), file), 'utf8')) as unknown;
const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> };
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
const nameOf = (folder: string): string =>
  folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);

describe('What npm ci installs', () => {
  it('runs scripts of no package that is not listed in allowScripts', () => {
    const withScripts = Object.entries(packages)
      .filter(([folder, { hasInstallScript }]) => folder.includes('node_modules/') && hasInstallScript)
      .map(([folder]) => nameOf(folder));
    expect(withScripts.filter((name) => allowScripts[name] === undefined)).toEqual([]);
  });

  it('contains no @scarf/scarf, which reports every installation: an empty package takes its place', () => {
    const found = Object.entries(packages).filter(
      ([folder, { resolved = '' }]) => nameOf(folder) === '@scarf/scarf' || resolved.includes('/@scarf/'),
    );
    expect(found.map(([folder, { name, hasInstallScript }]) => [folder, name, hasInstallScript])).toEqual([
      ['node_modules/@scarf/scarf', 'empty-npm-package', undefined],
    ]);
  });
});

import { readFileSync } from 'node:fs';
import { HELP } from '../../packages/cli/src/options.js';
import { HELP as GUARD_HELP } from '../../packages/guard/src/gateway-program.js';
import { settingsOf } from '../../packages/guard/src/options.js';

const read = (file: string): string => readFileSync(`packages/${file}`, 'utf8');

/** The rows of a README's table of options: names, and the default as written. */
const optionsIn = (readme: string): Map<string, string> =>
  new Map(
    [...readme.matchAll(/^\| (`[^|]+`) \| ([^|]*)\|/gm)].flatMap(([, names, defaults]) => {
      const values = defaults!.trim().split(/, (?!\d{3}\b)/);
      return [...names!.matchAll(/`(\w+)`/g)].map(([, name], n) => [name!, values[n] ?? values[0]!] as const);
    }),
  );

describe('packages/guard/README.md', () => {
  const options = optionsIn(read('guard/README.md'));

  it('has every option, and no other', () => {
    const [, members] = /interface GuardOptions \{(.*?)^\}/ms.exec(read('guard/src/options.ts'))!;
    const names = [...members!.matchAll(/^  (\w+)\??:/gm)].map(([, name]) => name!);
    expect([...options.keys()].sort()).toEqual(names.sort());
  });

  it('has the defaults', () => {
    const settings = settingsOf({
      url: 'https://auth.example.com',
      clientId: 'c',
      clientSecret: 's',
      resource: 'https://data.example.com',
    });
    for (const name of [
      'followChanges',
      'rememberMs',
      'maxRemembered',
      'timeoutMs',
      'maxConnections',
      'maxWaiting',
    ] as const)
      expect([name, options.get(name)?.replace(',', '')]).toEqual([name, String(settings[name])]);
  });

  it('names only what the package exports', () => {
    const readme = read('guard/README.md');
    for (const [, names, from] of readme.matchAll(
      /import \{ ([^}]+) \} from '@charging-data\/guard\/?([\w-]*)'/g,
    )) {
      const source = read(`guard/src/${from || 'index'}.ts`);
      for (const name of names!.split(', ')) expect(source).toMatch(new RegExp(`export .*\\b${name}\\b`));
    }
  });
});

it('docs/gateways.md, or the help, has every flag and variable of charging-data-guard', () => {
  const both = readFileSync('docs/gateways.md', 'utf8') + GUARD_HELP;
  const source = read('guard/src/gateway-program.ts').replace(GUARD_HELP, '');
  const flags = [...source.matchAll(/^ {6}'?([a-z-]+)'?: (?:text|\{ \.\.\.text)/gm)].map(
    ([, name]) => `--${name}`,
  );
  const variables = [...source.matchAll(/CHARGING_DATA_[A-Z_]+|'RESOURCE'/g)].map(([name]) =>
    name.replaceAll("'", ''),
  );
  expect(flags.length).toBeGreaterThan(6);
  for (const name of [...flags, ...variables]) expect(both).toContain(name);
});

it('packages/cli/README.md, or the help, has every flag and variable', () => {
  const both = read('cli/README.md') + HELP;
  const source = read('cli/src/options.ts').replace(HELP, '');
  const flags = [...source.matchAll(/^ {8}'?([a-z-]+)'?: text,/gm)].map(([, name]) => `--${name}`);
  const variables = [...source.matchAll(/CHARGING_DATA_[A-Z_]+/g)].map(([name]) => name);
  expect(flags.length).toBeGreaterThan(4);
  for (const name of [...flags, ...variables]) expect(both).toContain(name);
});

import { readFileSync } from 'node:fs';
import type { Command } from '#entrypoints/cli/command.js';
import { COMMANDS, DATABASE_COMMANDS } from '#entrypoints/cli/commands.js';
import { FEATURE_COMMANDS } from '#start/feature-commands.js';
import { REFUSAL_STATUS } from '#access/identity-providers/refusals.js';

const GUIDE = readFileSync('docs/operators.md', 'utf8');

/** What stands as code in the tables under a heading. */
const codeUnder = (heading: string): string[] => {
  const begin = GUIDE.indexOf(`\n## ${heading}\n`);
  const part = GUIDE.slice(begin, GUIDE.indexOf('\n## ', begin + 1));
  const rows = [...part.matchAll(/^\| (`.*)$/gm)].map(([, row]) => row!);
  return rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, code]) => code!));
};

describe('The guide for operators', () => {
  const commands: [string, Command][] = Object.entries({
    ...DATABASE_COMMANDS,
    ...COMMANDS,
    ...FEATURE_COMMANDS,
  });

  it.each(commands)('shows %s with all that it takes, and nothing else', (name, { options }) => {
    const shown = codeUnder('npm run operator').filter((code) => code.split(' ')[0] === name);
    const taken = [...shown.join(' ').matchAll(/(?<=[ ([])--?([a-z-]+)/g)].map(([, option]) => option!);
    const known = options.map(({ name: option, short }) => short ?? option);
    expect(shown.length).toBeGreaterThan(0);
    expect(taken.sort()).toEqual(known.sort());
  });

  it('says what to look at for every reason for which a login through a provider is refused', () => {
    expect(codeUnder('Identity providers')).toEqual(expect.arrayContaining(Object.keys(REFUSAL_STATUS)));
  });
});

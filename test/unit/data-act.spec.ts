import { existsSync, readFileSync } from 'node:fs';

const text = readFileSync('docs/data-act.md', 'utf8');

describe('The table of the Data Act', () => {
  it('says first that it is no legal advice', () => {
    expect(text.split('\n')[2]).toMatch(/^\*\*This is not legal advice\.\*\*/);
  });

  it.each([4, 5, 6, 7, 8, 9])('has Article %i with duties', (article) => {
    const [, part] = text.split(new RegExp(`^## Article ${article}: .*$`, 'm'));
    expect(part!.split(/^## /m)[0]).toMatch(new RegExp(`^\\| ${article}\\(1\\)`, 'm'));
  });

  it('names only tests that there are, and a test for whatever the service does', () => {
    const named = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((file) => !existsSync(file))).toEqual([]);
    const rows = [...text.matchAll(/^\| \d\(.*$/gm)].map(([row]) => row.split(' | '));
    const untested = rows.filter(
      ([, does, test]) => does !== '–' && !does!.startsWith('Nothing') && test === '–',
    );
    expect(untested).toEqual([]);
  });
});

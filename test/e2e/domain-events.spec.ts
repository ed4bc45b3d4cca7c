import { readFileSync } from 'node:fs';
import { DomainMethods } from '#platform/database/domain/domain-methods.js';
import { useSharedService } from '../support/test-service.js';

/** The last cell of each row, by the name in the first one; test/unit/architecture.spec.ts compares the tables with the code. */
function listedIn(title: string): Record<string, string[]> {
  const [, table] = readFileSync('docs/architecture.md', 'utf8').split(`<!-- ${title} -->`);
  const rows = table!.split('<!-- end -->')[0]!.matchAll(/^\| `([^`]+)` .*\| ([^|]*) \|$/gm);
  return Object.fromEntries(
    [...rows].map(([, name, cell]) => [name!, [...cell!.matchAll(/`([^`]+)`/g)].map(([, label]) => label!)]),
  );
}

describe('The running service', () => {
  const service = useSharedService();
  const found = (): Record<string, string[]> =>
    Object.fromEntries(
      [...service.app.get(DomainMethods)['all']()].map(([name, methods]) => [
        name,
        methods.map(({ label }) => label),
      ]),
    );

  it('has every listener that the code declares, in the order of the table', () => {
    const listed = listedIn('domain events');
    expect(Object.keys(listed).length).toBeGreaterThan(10);
    expect(Object.fromEntries(Object.keys(listed).map((name) => [name, found()[name]]))).toEqual(listed);
  });

  it('has everyone who answers a question', () => {
    const listed = listedIn('domain questions');
    expect(Object.keys(listed).length).toBeGreaterThan(4);
    for (const [name, classes] of Object.entries(listed)) {
      const answering = new Set(found()[name]!.map((label) => label.split('.')[0]));
      expect([name, [...answering].sort()]).toEqual([name, [...classes].sort()]);
    }
  });

  it('knows no other names', () => {
    const listed = [...Object.keys(listedIn('domain events')), ...Object.keys(listedIn('domain questions'))];
    expect(Object.keys(found()).sort()).toEqual(listed.sort());
  });
});

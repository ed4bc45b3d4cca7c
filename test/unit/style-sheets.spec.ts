import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ASSETS = 'src/platform/web/assets';
const PICO = 'node_modules/@picocss/pico/css/pico.min.css';

const declaredIn = (css: string): string[] => [...css.matchAll(/(--[\w-]+)\s*:/g)].map(([, name]) => name!);

describe('the style sheets', () => {
  it('use no variable that nothing declares: the declaration would be dropped without a word', () => {
    const textOf = (extension: string) =>
      readdirSync(ASSETS)
        .filter((file) => file.endsWith(extension))
        .map((file) => readFileSync(path.join(ASSETS, file), 'utf8'))
        .join('\n');
    const css = textOf('.css');
    const setByPrograms = [...textOf('.js').matchAll(/setProperty\('(--[\w-]+)'/g)].map(([, name]) => name!);
    const declared = new Set([
      ...declaredIn(css),
      ...declaredIn(readFileSync(PICO, 'utf8')),
      ...setByPrograms,
    ]);
    // Those of the reference of the API come with its program.
    const used = [...css.matchAll(/var\(\s*(--(?!scalar-)[\w-]+)/g)].map(([, name]) => name!);
    expect(used.length).toBeGreaterThan(50);
    expect([...new Set(used)].filter((name) => !declared.has(name))).toEqual([]);
  });
});

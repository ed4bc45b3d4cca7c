import { colord, extend } from 'colord';
import a11y from 'colord/plugins/a11y';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PRODUCT_NAME, isReadableAccent, leastContrast } from '#platform/config/brand-values.js';
import { isHttpsPage } from '#platform/config/is-url.js';
import { brandStyle, styleUrlOf } from '#platform/web/layout/brand-style.js';

extend([a11y]);
const AA = 4.5;

const anyColor = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);

/** The pairs of colours of a style sheet by the names of its properties. */
const shadesIn = (style: string): Record<string, [light: string, dark: string]> =>
  Object.fromEntries(
    [...style.matchAll(/(--[\w-]+): light-dark\((rgba?\([^)]*\)|[^,]+), (.+)\);/g)].map(
      ([, name, light, dark]) => [name, [light!, dark!]],
    ),
  );

describe('The accent colour', () => {
  it.each(['', 'green', '#06b', '#006b57ff', '006b57', '#00gb57', 'rgb(0,107,87)', '#006b57;}', '#006b57\n'])(
    'is not %j',
    (text) => {
      expect(isReadableAccent(text)).toBe(false);
    },
  );

  it.each(['#ffffff', '#ffcc00', '#58e6bf', '#ff6a00', '#7f7f7f', '#00a884'])(
    '%s is too faint: neither white text on it nor it on light pages can be read',
    (color) => {
      expect(leastContrast(color)).toBeLessThan(AA);
      expect(isReadableAccent(color)).toBe(false);
    },
  );

  it('is judged against the page, which is darker than white', () => {
    // 4.54:1 against white, 4.15:1 against the page.
    expect(colord('#767676').contrast('#ffffff')).toBeGreaterThanOrEqual(AA);
    expect(isReadableAccent('#767676')).toBe(false);
  });

  it.each(['#006b57', '#0050B3', '#b3005e', '#000000', '#5b21b6'])('may be %s', (color) => {
    expect(isReadableAccent(color)).toBe(true);
  });

  it('gives text that can be read everywhere, on light and dark pages', () => {
    const sheet = readFileSync('src/platform/web/assets/app.css', 'utf8');
    const of = (name: string) =>
      new RegExp(`${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(sheet)!.slice(1) as [string, string];
    const [page, card] = [of('--pico-background-color'), of('--pico-card-background-color')];
    fc.assert(
      fc.property(anyColor.filter(isReadableAccent), (accent) => {
        const shades = shadesIn(brandStyle(accent));
        for (const mode of [0, 1]) {
          const shade = (name: string) => shades[name]![mode]!;
          const pairs: [text: string, background: string][] = [
            [shade('--pico-primary'), page[mode]!],
            [shade('--pico-primary'), card[mode]!],
            [shade('--pico-primary'), shade('--accent-soft')],
            [shade('--pico-primary-hover'), card[mode]!],
            [shade('--pico-primary-hover'), page[mode]!],
            [shade('--accent-soft-text'), shade('--accent-soft')],
            [shade('--pico-primary-inverse'), shade('--pico-primary-background')],
            [shade('--pico-primary-inverse'), shade('--pico-primary-hover-background')],
          ];
          for (const [text, background] of pairs) {
            expect([accent, text, background, colord(text).contrast(background) >= AA]).toEqual([
              accent,
              text,
              background,
              true,
            ]);
          }
        }
      }),
    );
  });

  it('has a style sheet of properties alone, at an address that changes with it', () => {
    expect(styleUrlOf('#006b57')).toMatch(/^\/brand\.css\?accent=006b57&v=[0-9a-f]{12}$/);
    expect(styleUrlOf('#006b58')).not.toBe(styleUrlOf('#006b57'));
    expect(brandStyle('#006b57')).not.toMatch(/url\(|@import|expression|<|javascript/i);
  });
});

describe('A page of the company', () => {
  it.each([
    'http://example.com/privacy',
    'javascript:alert(1)',
    'data:text/html,hello',
    'ftp://example.com/',
    '//example.com/',
    'example.com',
    'https:',
    'https://',
    'https:///privacy',
    'https://user:secret@example.com/',
    'https://user@example.com/',
    'https://exa mple.com/',
    'https://example.com\\@evil.example/',
    'https://example.com/\u202egnp.exe',
    ' https://example.com/',
    `https://example.com/${'a'.repeat(2000)}`,
  ])('is not %j', (text) => {
    expect(isHttpsPage(text)).toBe(false);
  });

  it.each(['https://example.com', 'HTTPS://example.com/privacy?a=b#c', 'https://bücher.example/über'])(
    'may be %s',
    (text) => {
      expect(isHttpsPage(text)).toBe(true);
    },
  );
});

describe('The name of the service', () => {
  it('stands in one place in the code', () => {
    const found = ['src', 'demo', 'migrations'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(tsx?|m?js|md|json|css|svg)$/.test(entry.name))
        .map((entry) => path.join(entry.parentPath, entry.name))
        .filter((file) => !file.includes('/vendor/') && readFileSync(file, 'utf8').includes(PRODUCT_NAME)),
    );
    expect(found).toEqual(['src/platform/config/brand-values.ts']);
  });
});

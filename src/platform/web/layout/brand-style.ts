import { colord, extend, type Colord } from 'colord';
import a11y from 'colord/plugins/a11y';
import mix from 'colord/plugins/mix';
import { createHash } from 'node:crypto';
import { AA } from '#platform/config/brand-values.js';

extend([a11y, mix]);

// As in app.css.
const LIGHT = { page: '#f1f6f4', card: '#ffffff' };
const DARK = { page: '#0a1412', card: '#121f1c' };

const PLAIN = {
  page: [LIGHT.page, DARK.page],
  card: [LIGHT.card, DARK.card],
  text: ['#24332f', '#d3dfdb'],
  heading: ['#0d211c', '#f0f7f4'],
  muted: ['#55655f', '#9db0a9'],
} satisfies Record<string, Pair>;

/** The colour, step by step nearer to white or black, until it can be read on all of these. */
function readable(color: Colord, toward: '#ffffff' | '#000000', backgrounds: string[]): string {
  for (let part = 0; part <= 1; part += 0.02) {
    // As it is written down: rounded.
    const shade = (part === 0 ? color : color.mix(toward, part)).toHex();
    if (backgrounds.every((background) => colord(shade).contrast(background) >= AA)) return shade;
  }
  return toward;
}

/** A colour for light pages, and one for dark ones. */
export type Pair = readonly [light: string, dark: string];

/** The shades that pages use, each of which can be read where it stands (WCAG level AA). */
function shadesOf(accent: string): Record<string, Pair> {
  const own = colord(accent);
  const lit = colord(readable(own, '#ffffff', [DARK.page, DARK.card]));
  const soft: Pair = [own.mix(LIGHT.card, 0.9).toHex(), lit.mix(DARK.card, 0.84).toHex()];
  const text: Pair = [
    readable(own, '#000000', [LIGHT.page, LIGHT.card, soft[0]]),
    readable(lit, '#ffffff', [DARK.page, DARK.card, soft[1]]),
  ];
  const hover: Pair = [
    colord(text[0]).mix('#000000', 0.2).toHex(),
    colord(text[1]).mix('#ffffff', 0.4).toHex(),
  ];
  const veil = (alpha: number): Pair => [own.alpha(alpha).toRgbString(), lit.alpha(alpha).toRgbString()];
  return {
    '--accent-soft': soft,
    '--accent-soft-text': text,
    '--brand-mark': [accent, accent],
    '--pico-text-selection-color': veil(0.22),
    '--pico-primary': text,
    '--pico-primary-background': [accent, lit.toHex()],
    '--pico-primary-underline': veil(0.45),
    '--pico-primary-hover': hover,
    '--pico-primary-hover-background': [own.mix('#000000', 0.15).toHex(), lit.mix('#ffffff', 0.25).toHex()],
    '--pico-primary-inverse': ['#ffffff', DARK.page],
  };
}

// As in app.css.
const OWN_SHADES = {
  '--pico-primary': ['#006b57', '#58e6bf'],
  '--pico-primary-background': ['#006b57', '#3fdcae'],
  '--pico-primary-inverse': ['#ffffff', '#04231b'],
} satisfies Record<string, Pair>;

/** The colours of pages for what has no style sheets with variables: mails. Null: without a brand's colour. */
export function plainColors(
  accent: string | null,
): Record<keyof typeof PLAIN | 'link' | 'button' | 'inverse', Pair> {
  const shades: Record<string, Pair> = accent === null ? OWN_SHADES : shadesOf(accent);
  return {
    ...PLAIN,
    link: shades['--pico-primary']!,
    button: shades['--pico-primary-background']!,
    inverse: shades['--pico-primary-inverse']!,
  };
}

/** The style sheet of a brand's colour, after `app.css`; browsers without `light-dark()` keep the colours that they have. */
export function brandStyle(accent: string): string {
  const lines = Object.entries(shadesOf(accent)).map(
    ([name, [light, dark]]) => `    ${name}: light-dark(${light}, ${dark});`,
  );
  return `@supports (color: light-dark(#000, #fff)) {
  :root:not([data-theme]) {
${lines.join('\n')}
  }
  .page {
    background-image: radial-gradient(60rem 26rem at 50% -8rem, var(--accent-soft), transparent);
  }
  .brand-mark-tile {
    fill: var(--brand-mark);
  }
  .brand-mark-ring {
    stroke: #ffffff;
  }
}
`;
}

/** The digest of the style sheet: another release may make another one of the same colour. */
export const versionOf = (style: string): string =>
  createHash('sha256').update(style).digest('hex').slice(0, 12);

const urls = new Map<string, string>();
const KEPT = 100;

/** The address of the style sheet: it names the colour and the version, so that browsers may keep it. */
export function styleUrlOf(accent: string): string {
  let url = urls.get(accent);
  if (url === undefined) {
    if (urls.size >= KEPT) urls.clear();
    url = `/brand.css?accent=${accent.slice(1)}&v=${versionOf(brandStyle(accent))}`;
    urls.set(accent, url);
  }
  return url;
}

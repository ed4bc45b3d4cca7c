import { plainColors } from '#platform/web/layout/brand-style.js';

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** The parts of a mail: their looks, the colour of their text, and what is behind it. */
const PARTS = {
  page: [`margin:0;padding:24px 12px;${FONT};font-size:16px;line-height:1.5`, 'text', 'page'],
  card: ['display:block;max-width:560px;margin:0 auto;padding:24px;border-radius:12px', 'text', 'card'],
  brand: ['margin:0 0 20px;font-size:17px;font-weight:600', 'heading'],
  application: ['margin:0 0 12px;font-weight:600', 'heading'],
  heading: ['margin:0 0 16px;font-size:20px;line-height:1.3', 'heading'],
  paragraph: ['margin:0 0 16px;white-space:pre-line', 'text'],
  after: ['margin:16px 0 0;white-space:pre-line', 'text'],
  way: ['margin:24px 0', 'text'],
  button: [
    'display:inline-block;padding:12px 20px;border-radius:8px;text-decoration:none',
    'inverse',
    'button',
  ],
  small: ['margin:24px 0 0;font-size:13px', 'muted'],
  link: ['', 'link'],
} as const satisfies Record<string, readonly [looks: string, text: string, behind?: string]>;

type Part = keyof typeof PARTS;

/** What an element of a mail has: mail programs ignore most of style sheets, so each carries its style. */
interface Styled {
  class: string;
  style: string;
}

export interface MailStyle {
  of: Record<Part, Styled>;
  /** The style sheet for mail programs in dark mode. */
  sheet: string;
}

/** The styles of a mail in the colours of the brand, the same as for pages. */
export function mailStyle(accent: string | null): MailStyle {
  const colors = plainColors(accent);
  const parts = Object.entries(PARTS).map(([part, [looks, text, behind]]) => {
    const ink = (mode: 0 | 1, important = '') =>
      [
        `color:${colors[text][mode]}${important}`,
        ...(behind ? [`background-color:${colors[behind][mode]}${important}`] : []),
      ].join(';');
    // Long words, such as addresses, never widen a mail.
    const style = [...(looks ? [looks] : []), 'overflow-wrap:anywhere', ink(0)].join(';');
    return {
      part,
      styled: { class: `mail-${part}`, style },
      dark: `.mail-${part}{${ink(1, ' !important')}}`,
    };
  });
  return {
    of: Object.fromEntries(parts.map(({ part, styled }) => [part, styled])) as Record<Part, Styled>,
    sheet: `:root{color-scheme:light dark}@media (prefers-color-scheme:dark){${parts.map(({ dark }) => dark).join('')}}`,
  };
}

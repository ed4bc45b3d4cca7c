import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { mailtoOf, type Brand } from '#platform/web/layout/brand.js';
import { RIGHT_TO_LEFT, type Language } from '#platform/language/languages.js';
import { shownText, text, type Shown } from '#platform/language/text.js';
import { legible } from '#platform/http/validation/legible-text.js';
import { plainColors } from '#platform/web/layout/brand-style.js';
import { type MailContent, type MailText, cidOf } from './mail-content.js';

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

interface MailStyle {
  of: Record<Part, Styled>;
  /** The style sheet for mail programs in dark mode. */
  sheet: string;
}

/** The styles of a mail in the colours of the brand, the same as for pages. */
function mailStyle(accent: string | null): MailStyle {
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

// White behind every logo, as on pages: most are made for that.
const LOGO =
  'width:auto;max-width:160px;height:auto;max-height:40px;border-radius:8px;background-color:#ffffff;vertical-align:middle';

/** A mail in one language. */
interface Written {
  subject: string;
  /** Shown with its logo, if it has one. */
  application?: { name: string; logoId: string };
  paragraphs: string[];
  action?: { label: string; url: string };
  after: string[];
  footer: string[];
}

/**
 * Makes plain text and HTML of a mail in a language. It looks like the pages, in light and dark, and loads nothing remote: logos
 * are attached as inline parts.
 */
export function renderMail(mail: MailText, brand: Brand, language: Language): MailContent {
  const write = (shown: Shown): string => shownText(language, shown).split('\n').map(legible).join('\n');
  const { action, application } = mail;
  const { logoId } = application ?? {};
  const written = {
    subject: oneLine(legible(shownText(language, mail.subject))),
    application: application && logoId ? { name: legible(application.name), logoId } : undefined,
    paragraphs: mail.paragraphs.map(write),
    action: action && { label: write(action.label), url: action.url },
    after: (mail.after ?? []).map(write),
    footer: mail.footer.map(write),
  };
  const logos = [brand.logoId, logoId].filter((id) => typeof id === 'string');
  return {
    subject: written.subject,
    text: textOf(written, brand, language),
    html: htmlOf(written, brand, language),
    ...(logos.length > 0 ? { logos: [...new Set(logos)] } : {}),
  };
}

function textOf({ paragraphs, action, after, footer }: Written, brand: Brand, language: Language): string {
  const parts = [
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...after,
    [
      '-- ',
      brand.name,
      ...footer,
      ...linksOf(brand, language).map(({ label, text: shown }) => `${label}: ${shown}`),
    ].join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

function htmlOf(
  { subject, application, paragraphs, action, after, footer }: Written,
  brand: Brand,
  language: Language,
): string {
  const { of, sheet } = mailStyle(brand.accentColor);
  const document = (
    <html lang={language} dir={RIGHT_TO_LEFT.has(language) ? 'rtl' : undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>{subject}</title>
        <style>{sheet}</style>
      </head>
      <body {...of.page}>
        <main {...of.card}>
          <p {...of.brand}>
            {brand.logoId !== null && (
              <>
                <Logo id={brand.logoId} />{' '}
              </>
            )}
            <bdi>{brand.name}</bdi>
          </p>
          {application && (
            <p {...of.application}>
              <Logo id={application.logoId} /> <bdi>{application.name}</bdi>
            </p>
          )}
          <h1 {...of.heading}>{subject}</h1>
          {paragraphs.map((paragraph) => (
            <p {...of.paragraph}>{paragraph}</p>
          ))}
          {action && (
            <>
              <p {...of.way}>
                <a href={action.url} {...of.button}>
                  {action.label}
                </a>
              </p>
              <p {...of.small}>
                {text(language, 'If the button does not work, copy this address into your browser:')}
                <br />
                {action.url}
              </p>
            </>
          )}
          {after.map((paragraph) => (
            <p {...of.after}>{paragraph}</p>
          ))}
          <p {...of.small}>
            {[brand.name, ...footer].map((line) => (
              <>
                {line}
                <br />
              </>
            ))}
            {linksOf(brand, language).map(({ label, text: shown, href }) => (
              <>
                {label}:{' '}
                <a href={href} {...of.link}>
                  {shown}
                </a>
                <br />
              </>
            ))}
          </p>
        </main>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}`;
}

/** A logo that is a part of the mail. Decorative: the name follows. Some mail programs know sizes by attributes only. */
const Logo = ({ id }: { id: string }): VNode => (
  <img src={`cid:${cidOf(id)}`} alt="" height="40" style={LOGO} />
);

/** The footer with the contact and other details of the company. */
const linksOf = (
  { supportEmail, privacyUrl }: Brand,
  language: Language,
): { label: string; text: string; href: string }[] => [
  ...(supportEmail === null
    ? []
    : [{ label: text(language, 'Support'), text: supportEmail, href: mailtoOf(supportEmail) }]),
  ...(privacyUrl === null ? [] : [{ label: text(language, 'Privacy'), text: privacyUrl, href: privacyUrl }]),
];

/** A subject must be one line, but a name in it may contain anything. */
const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim();

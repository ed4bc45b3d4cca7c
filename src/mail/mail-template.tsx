import { renderToString } from 'preact-render-to-string';
import { mailtoOf, type Brand } from '../web/layout/brand.js';
import { RIGHT_TO_LEFT, type Language } from '../language/languages.js';
import { shownText, text, type Shown } from '../language/text.js';
import { legible } from '../http/validation/legible-text.js';
import type { MailContent, MailText } from './mail-content.js';

// Mail programs ignore style sheets, so every element carries its style.
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const BODY = `margin:0;padding:24px;background:#f1f6f4;color:#12211d;${FONT};font-size:16px;line-height:1.5`;
const CARD = 'max-width:560px;margin:0 auto;padding:24px;background:#ffffff;border-radius:12px';
const BUTTON =
  'display:inline-block;padding:12px 20px;border-radius:8px;background:#0b6b53;color:#ffffff;text-decoration:none';
const SMALL = 'margin:24px 0 0;color:#4a5b56;font-size:13px';

/** A mail in one language. */
interface Written {
  subject: string;
  paragraphs: string[];
  action?: { label: string; url: string };
  after: string[];
  footer: string[];
}

/** Makes plain text and HTML of a mail in a language: no images, no style sheets, nothing loaded from anywhere. */
export function renderMail(mail: MailText, brand: Brand, language: Language): MailContent {
  const write = (shown: Shown): string => shownText(language, shown).split('\n').map(legible).join('\n');
  const { action } = mail;
  const written = {
    subject: oneLine(legible(shownText(language, mail.subject))),
    paragraphs: mail.paragraphs.map(write),
    action: action && { label: write(action.label), url: action.url },
    after: (mail.after ?? []).map(write),
    footer: mail.footer.map(write),
  };
  const { subject } = written;
  return { subject, text: textOf(written, brand, language), html: htmlOf(written, brand, language) };
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
  { subject, paragraphs, action, after, footer }: Written,
  brand: Brand,
  language: Language,
): string {
  const button = brand.accentColor === null ? BUTTON : `${BUTTON};background:${brand.accentColor}`;
  const document = (
    <html lang={language} dir={RIGHT_TO_LEFT.has(language) ? 'rtl' : undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{subject}</title>
      </head>
      <body style={BODY}>
        <div style={CARD}>
          <h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">{subject}</h1>
          {paragraphs.map((paragraph) => (
            <p style="margin:0 0 16px;white-space:pre-line">{paragraph}</p>
          ))}
          {action && (
            <>
              <p style="margin:24px 0">
                <a href={action.url} style={button}>
                  {action.label}
                </a>
              </p>
              <p style={SMALL}>
                {text(language, 'If the button does not work, copy this address into your browser:')}
                <br />
                <span style="word-break:break-all">{action.url}</span>
              </p>
            </>
          )}
          {after.map((paragraph) => (
            <p style="margin:16px 0 0;white-space:pre-line">{paragraph}</p>
          ))}
          <p style={SMALL}>
            {[brand.name, ...footer].map((line) => (
              <>
                {line}
                <br />
              </>
            ))}
            {linksOf(brand, language).map(({ label, text: shown, href }) => (
              <>
                {label}: <a href={href}>{shown}</a>
                <br />
              </>
            ))}
          </p>
        </div>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}`;
}

/** Whom to ask, and what else a mail says of the company. */
const linksOf = (
  { supportEmail, privacyUrl }: Brand,
  language: Language,
): { label: string; text: string; href: string }[] => [
  ...(supportEmail === null
    ? []
    : [{ label: text(language, 'Support'), text: supportEmail, href: mailtoOf(supportEmail) }]),
  ...(privacyUrl === null ? [] : [{ label: text(language, 'Privacy'), text: privacyUrl, href: privacyUrl }]),
];

/** A subject is one line; a name in it may hold anything. */
const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim();

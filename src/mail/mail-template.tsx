import { renderToString } from 'preact-render-to-string';
import { legible } from '../http/validation/legible-text.js';
import type { MailContent, MailText } from './mail-content.js';

const SERVICE_NAME = 'Charging Data Service';
// Mail programs ignore style sheets, so every element carries its style.
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const BODY = `margin:0;padding:24px;background:#f1f6f4;color:#12211d;${FONT};font-size:16px;line-height:1.5`;
const CARD = 'max-width:560px;margin:0 auto;padding:24px;background:#ffffff;border-radius:12px';
const BUTTON =
  'display:inline-block;padding:12px 20px;border-radius:8px;background:#0b6b53;color:#ffffff;text-decoration:none';
const SMALL = 'margin:24px 0 0;color:#4a5b56;font-size:13px';

/** Makes plain text and HTML of a mail: no images, no style sheets, nothing loaded from anywhere. */
export function renderMail(mail: MailText): MailContent {
  const subject = oneLine(legible(mail.subject));
  return { subject, text: textOf({ ...mail, subject }), html: htmlOf({ ...mail, subject }) };
}

function textOf({ paragraphs, action, after = [], footer }: MailText): string {
  const parts = [
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...after,
    ['-- ', SERVICE_NAME, ...footer].join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

function htmlOf({ subject, paragraphs, action, after = [], footer }: MailText): string {
  const document = (
    <html lang="en">
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
                <a href={action.url} style={BUTTON}>
                  {action.label}
                </a>
              </p>
              <p style={SMALL}>
                If the button does not work, copy this address into your browser:
                <br />
                <span style="word-break:break-all">{action.url}</span>
              </p>
            </>
          )}
          {after.map((paragraph) => (
            <p style="margin:16px 0 0;white-space:pre-line">{paragraph}</p>
          ))}
          <p style={SMALL}>
            {[SERVICE_NAME, ...footer].map((line) => (
              <>
                {line}
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

/** A subject is one line; a name in it may hold anything. */
const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim();

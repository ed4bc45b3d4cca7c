import { createTransport, type Transporter } from 'nodemailer';
import { isLoopbackHost } from '#platform/config/is-url.js';
import { SendError, type MailTransport, type OutgoingMail } from './mail-transport.js';

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** Concurrent connections of one instance, each for many mails. */
export const SMTP_CONNECTIONS = 8;
// Below the time after which servers end idle connections.
const IDLE_MS = 10_000;

/** What nodemailer adds to an error. */
interface SmtpError {
  code?: string;
  command?: string;
  responseCode?: number;
}

/** Sends by the SMTP server of the settings: TLS from the start (`smtps`), or STARTTLS when the server offers it. */
export class SmtpTransport implements MailTransport {
  private readonly transporter: Transporter;
  private readonly domain: string;

  /** `name`: how it introduces itself to the server. */
  constructor(
    private readonly settings: { smtpUrl: string; from: string },
    name: string,
  ) {
    const url = new URL(settings.smtpUrl);
    this.domain = /@([^>\s]+)>?$/.exec(settings.from)![1]!;
    this.transporter = createTransport({
      url: settings.smtpUrl,
      name,
      pool: true,
      maxConnections: SMTP_CONNECTIONS,
      // nodemailer's own retries after a lost connection; the queue retries anyway.
      maxRequeues: 1,
      idleTimeout: IDLE_MS,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      dnsTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      // Never send a password unencrypted, even if someone strips the server's offer of TLS.
      requireTLS: url.protocol === 'smtp:' && url.username !== '' && !isLoopbackHost(url.hostname),
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  close(): void {
    this.transporter.close();
  }

  async send(mail: OutgoingMail, signal: AbortSignal): Promise<void> {
    const { id, to, subject, text, html, images, unsubscribeUrl } = mail;
    try {
      await this.transporter.sendMail({
        from: this.settings.from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        attachments: images.map(({ cid, png }, n) => ({
          cid,
          content: png,
          contentType: 'image/png',
          contentDisposition: 'inline' as const,
          filename: `logo-${n + 1}.png`,
        })),
        // The same for every attempt, so that a mail sent twice (after a crash before our commit) is recognized as a duplicate.
        messageId: `<${id}@${this.domain}>`,
        headers: {
          'Auto-Submitted': 'auto-generated',
          'X-Auto-Response-Suppress': 'All',
          ...unsubscribing(unsubscribeUrl),
        },
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      const { responseCode, command, code } = error as SmtpError;
      const problem = { responseCode, command, code };
      throw new SendError(reasonOf(problem), isAboutThisMail(problem));
    }
  }
}

/** Where mail programs switch off such mails: by a page (RFC 2369), and over https by one click (RFC 8058). */
function unsubscribing(url: string | undefined): Record<string, string> {
  if (url === undefined) return {};
  const page = { 'List-Unsubscribe': `<${url}>` };
  return url.startsWith('https:') ? { ...page, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : page;
}

/**
 * A 5xx answer to the address or the message; a 5xx to the login or the sender is a configuration error, which can be corrected.
 */
const isAboutThisMail = ({ responseCode, command, code }: SmtpError): boolean =>
  responseCode === undefined
    ? // The server does not offer what the address needs, such as letters outside ASCII.
      code === 'EENVELOPE'
    : responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');

function reasonOf({ responseCode, command, code }: SmtpError): string {
  if (responseCode !== undefined) {
    return `the SMTP server answered ${responseCode}${command ? ` to ${command}` : ''}`;
  }
  return `the SMTP server could not be reached, or broke off (${code ?? 'unknown'})`;
}

import { simpleParser, type Attachment, type ParsedMail } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { atEndOfFile } from './between-files.js';
import { freePort } from './free-port.js';
import { until } from './until.js';

/** Settings with mail and sign-up switched on, where no mail is read: nothing listens there. */
export const MAIL_ENV = {
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'no-reply@charging.example',
  SIGN_UP: 'true',
};

/** A mail that the server accepted. */
export interface ReceivedMail {
  to: string;
  from: string;
  subject: string;
  text: string;
  /** With its images in it, as a mail program shows it. */
  html: string;
  /** The parts that its HTML shows. */
  images: Pick<Attachment, 'cid' | 'contentType' | 'contentDisposition' | 'related' | 'content'>[];
  messageId: string;
  headers: ParsedMail['headers'];
  /** Whether it came over TLS. */
  isSecure: boolean;
  /** The first link in its text. */
  link: string;
}

/** The answer to a command, such as 451; undefined accepts. */
type Answer = { code: number; text: string } | undefined;

/** A real SMTP server, for the mails that the service sends. */
export class MailServer {
  readonly mails: ReceivedMail[] = [];
  /** Every RCPT TO, also refused ones. */
  readonly recipients: string[] = [];
  /** How it answers a recipient. */
  onRecipient: (address: string) => Answer | Promise<Answer> = () => undefined;
  /** Runs when a mail has arrived completely, before the server says that it took it. */
  onMail: (mail: ReceivedMail) => Answer | Promise<Answer> = () => undefined;
  private server: SMTPServer | undefined;

  private port = 0;

  /** Takes mails only once it listens. */
  constructor(private readonly options: SMTPServerOptions = {}) {}

  /** Stopped when the file has ended, if not before. */
  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options);
    await server.listen();
    atEndOfFile(() => server.stop());
    return server;
  }

  /** The settings of a service that sends by this server. */
  get env(): Record<string, string> {
    return {
      SMTP_URL: `smtp://127.0.0.1:${this.port}`,
      MAIL_FROM: 'Charging <no-reply@charging.example>',
    };
  }

  /** At the same port each time. */
  async listen(): Promise<void> {
    this.port ||= await freePort();
    const server = new SMTPServer({
      authOptional: true,
      hideSTARTTLS: true,
      disableReverseLookup: true,
      logger: false,
      closeTimeout: 100,
      ...this.options,
      onRcptTo: ({ address }, _session, done) => {
        this.recipients.push(address);
        void Promise.resolve(this.onRecipient(address)).then((answer) => done(errorOf(answer)));
      },
      onData: (stream, session, done) => {
        void simpleParser(stream).then(async (parsed) => {
          const mail = received(parsed, session.envelope.rcptTo[0]!.address, session.secure);
          const answer = await this.onMail(mail);
          if (!answer) this.mails.push(mail);
          done(errorOf(answer));
        });
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.server = server;
  }

  /** Nothing listens on its port afterwards. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  to(address: string): ReceivedMail[] {
    return this.mails.filter((mail) => mail.to === address);
  }

  /** The nth mail to an address, once it has arrived. */
  async mailTo(address: string, n = 1): Promise<ReceivedMail> {
    await until(`mail ${n} to ${address} has arrived`, () => this.to(address).length >= n);
    return this.to(address)[n - 1]!;
  }
}

function errorOf(answer: Answer): (Error & { responseCode: number }) | null {
  return answer ? Object.assign(new Error(answer.text), { responseCode: answer.code }) : null;
}

function received(parsed: ParsedMail, to: string, isSecure: boolean): ReceivedMail {
  const text = parsed.text ?? '';
  return {
    to,
    from: parsed.from?.text ?? '',
    subject: parsed.subject ?? '',
    text,
    html: parsed.html || '',
    images: parsed.attachments.map(({ cid, contentType, contentDisposition, related, content }) => ({
      cid,
      contentType,
      contentDisposition,
      related,
      content,
    })),
    messageId: parsed.messageId ?? '',
    headers: parsed.headers,
    isSecure,
    link: /https?:\/\/\S+/.exec(text)?.[0] ?? '',
  };
}

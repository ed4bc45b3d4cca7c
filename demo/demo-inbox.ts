import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { MailWorker } from '#records/mail/mail-worker.service.js';
import type { MailTransport, OutgoingMail } from '#records/mail/mail-transport.js';

/** A mail program shows its images from the mail; a browser, from the page. */
const withImages = (html: string, images: OutgoingMail['images']): string =>
  images.reduce(
    (shown, { cid, png }) =>
      shown.replaceAll(`cid:${cid}`, `data:image/png;base64,${png.toString('base64')}`),
    html,
  );

// The oldest ones are forgotten.
const KEPT = 200;

/** A mail as it was sent. */
export interface DemoMail extends Omit<OutgoingMail, 'images'> {
  sentAt: Date;
}

/** Where mail goes in the demonstration, unless it has an SMTP server: into the memory of the process, for everybody to read. */
@Injectable()
export class DemoInbox implements MailTransport {
  private mails: DemoMail[] = [];

  constructor(worker: MailWorker, settings: Settings) {
    if (!settings.mail) worker.useTransport(this);
  }

  send({ images, html, ...rest }: OutgoingMail): Promise<void> {
    const mail = { ...rest, html: withImages(html, images) };
    // A mail that is sent once more replaces itself.
    const others = this.mails.filter(({ id }) => id !== mail.id);
    this.mails = [{ ...mail, sentAt: new Date() }, ...others].slice(0, KEPT);
    return Promise.resolve();
  }

  /** Newest first. */
  list(): DemoMail[] {
    return this.mails;
  }

  find(id: string): DemoMail | undefined {
    return this.mails.find((mail) => mail.id === id);
  }
}

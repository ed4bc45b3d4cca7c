import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { LogosService } from '#records/brand/brand.service.js';
import { Settings } from '#platform/config/settings.js';
import { QueueWorker } from '#platform/database/background/queue-worker.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { type MailContent, cidOf, withoutLogo } from './mail-content.js';
import { finishedMails, mailAttempts, withheldMails } from './mail-metrics.js';
import { SendError, type MailTransport, type OutgoingMail } from './mail-transport.js';
import { MailsRepository, MAIL_CHANNEL, type ClaimedMail, type MailResult } from './mails.repository.js';
import { MailsService } from './mails.service.js';
import { SMTP_CONNECTIONS, SmtpTransport } from './smtp-transport.js';

const MINUTE = 60;
/** Contract §18: the waits before the next attempts, the last of which repeats. */
const WAITS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE] as const;

/** Seconds to wait after this many attempts have failed. */
const waitAfter = (attempts: number): number => WAITS[Math.min(Math.max(attempts, 1), WAITS.length) - 1]!;

/** Concurrent connections to the SMTP server, of one instance. */
const IN_HAND = SMTP_CONNECTIONS;
const POLL_EVERY_MS = 5_000;
/** Well below the lease, so that a holder has stopped before another instance may begin. */
const SEND_WITHIN_MS = 45_000;
const TRY_AGAIN_MS = 250;
const WRITE_TRIES = 20;

/** Sends queued mails (contract §18): claims them, sends them, writes the results. Any number of instances may run one. */
@Injectable()
export class MailWorker extends QueueWorker {
  private transport: MailTransport | undefined;

  constructor(
    private readonly queue: MailsRepository,
    private readonly mails: MailsService,
    private readonly logos: LogosService,
    server: HttpAdapterHost,
    schema: SchemaCompatibility,
    settings: Settings,
    listener: Listener,
  ) {
    super('Mails', server, schema, settings.works);
    if (settings.mail) this.transport = new SmtpTransport(settings.mail, ehloName(settings.baseUrl));
    const wakeUp = () => void this.claimDue();
    listener.listen(MAIL_CHANNEL, { onConnected: wakeUp, onAnnouncement: wakeUp });
  }

  /** Called during application setup by the demonstration, which has no SMTP server. */
  useTransport(transport: MailTransport): void {
    this.transport = transport;
  }

  protected override afterLast(): void {
    this.transport?.close?.();
  }

  protected override readonly pollEveryMs = POLL_EVERY_MS;

  protected hasRoom(): boolean {
    return this.transport !== undefined && this.underWay.size < IN_HAND;
  }

  protected async claim(): Promise<boolean> {
    const claimed = await this.queue.claim(randomUUID(), IN_HAND - this.underWay.size);
    for (const mail of claimed) this.begin(mail, this.transport!);
    return claimed.length > 0;
  }

  private begin(mail: ClaimedMail, transport: MailTransport): void {
    const work = this.deliver(mail, transport).finally(() => {
      this.underWay.delete(work);
      void this.claimDue();
    });
    this.underWay.add(work);
  }

  private async deliver(mail: ClaimedMail, transport: MailTransport): Promise<void> {
    const result = await this.attempt(mail, transport);
    await this.write(() => (result ? this.report(mail, result) : this.queue.giveBack(mail)));
  }

  /** Undefined if the shutdown aborted it. */
  private async attempt(mail: ClaimedMail, transport: MailTransport): Promise<MailResult | undefined> {
    const { id, address, sealedContent, attempts, isTooOld, isUseless } = mail;
    if (isUseless) {
      withheldMails.inc({ reason: 'expired' });
      return { state: 'failed', error: 'its link had expired before it could be sent' };
    }
    if (isTooOld) return { state: 'failed', error: 'it waited for 24 hours' };
    const content = this.mails.open(id, sealedContent);
    // During a change of the key, another instance may know the one that this one does not.
    if (!content) return later(attempts, 'its content was sealed with a key that is not known here');
    const signal = AbortSignal.any([this.abort.signal, AbortSignal.timeout(SEND_WITHIN_MS)]);
    try {
      await transport.send(await this.illustrated(content, id, address), signal);
      mailAttempts.inc({ result: 'sent' });
      return { state: 'sent' };
    } catch (error) {
      if (this.abort.signal.aborted) return undefined;
      mailAttempts.inc({ result: 'failed' });
      const reason = reasonOf(error, signal);
      if (error instanceof SendError && error.isPermanent) return { state: 'failed', error: reason };
      return later(attempts, reason);
    }
  }

  /** With the logos as parts of it. One that was removed while the mail waited is left out: the mail has the name. */
  private async illustrated(
    { logos = [], ...content }: MailContent,
    id: string,
    address: string,
  ): Promise<OutgoingMail> {
    const found = await this.logos.findAll(logos);
    const images: OutgoingMail['images'] = [];
    let { html } = content;
    for (const logoId of logos) {
      const png = found.get(logoId);
      if (png) images.push({ cid: cidOf(logoId), png });
      else html = withoutLogo(html, logoId);
    }
    return { ...content, html, images, id, to: content.to ?? address };
  }

  private async report(mail: ClaimedMail, result: MailResult): Promise<void> {
    const state = await this.queue.finish(mail, result);
    if (state === undefined) return;
    if (state !== 'pending') finishedMails.inc({ state });
    if (!('error' in result)) return;
    const what = state === 'failed' ? 'failed permanently' : 'could not be sent and will be retried';
    this.logger.warn(`Mail ${mail.id} (${mail.kind}) ${what}: ${result.error}`);
  }

  /** Until it is written, or the lease is nearly over and another instance takes the mail over. */
  private async write(work: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        this.logger.warn(`The result of a mail could not be written: ${(error as Error).message}`);
        if (tries === WRITE_TRIES) return;
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
      }
    }
  }
}

const later = (attempts: number, error: string): MailResult => ({
  state: 'pending',
  error,
  waitSeconds: waitAfter(attempts),
});

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof SendError) return error.message;
  return signal.aborted ? 'the SMTP server took too long' : 'an unexpected error';
}

/** How this service calls itself to SMTP servers: by the host of its address, an IP address as a literal (RFC 5321 §4.1.3). */
export function ehloName(baseUrl: string): string {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '');
  switch (isIP(host)) {
    case 4:
      return `[${host}]`;
    case 6:
      return `[IPv6:${host}]`;
    default:
      return host;
  }
}

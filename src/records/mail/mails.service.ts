import { Injectable } from '@nestjs/common';
import { BrandService } from '#records/brand/brand.service.js';
import { Settings } from '#platform/config/settings.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';
import type { Language } from '#platform/language/languages.js';
import { newId } from '#platform/secrets/ids.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import type { MailContent, MailText } from './mail-content.js';
import { renderMail } from './mail-template.js';
import { OPTIONAL_MAIL_KINDS, type MailEntity, type MailKind, type OptionalMailKind } from './mail.entity.js';
import { UnsubscribeKeys, type Unsubscription } from './unsubscribe-keys.service.js';
import { MailsRepository, type MailFilter } from './mails.repository.js';

export interface NewMail {
  kind: MailKind;
  address: string;
  userId?: string;
  clientId?: string;
  /** What the mail is about: there is one mail for each cause. */
  cause: string;
  /** How many seconds its link works; it is not sent later. */
  usefulSeconds?: number;
  mail: MailText;
  /** Of the reader; English if it is not known. */
  language?: Language | null;
  /** Where mails of this kind are switched off. */
  unsubscribeUrl?: string;
}

const RESEALED_AT_ONCE = 500;
/** Stands for the address of a person who was erased. */
const ERASED = 'erased';

/** The outbox (contract §18): a mail is a row, written in the same transaction as the change that it reports. */
@Injectable()
export class MailsService {
  private readonly box: SealedBox;

  constructor(
    private readonly repository: MailsRepository,
    private readonly unsubscribeKeys: UnsubscribeKeys,
    private readonly settings: Settings,
    private readonly brand: BrandService,
  ) {
    this.box = new SealedBox('mail', settings.encryptionKeys);
  }

  /** Whether this service sends mail at all. */
  get isOn(): boolean {
    return this.settings.sendsMail;
  }

  /** Queues a mail in the caller's transaction; nothing happens without mail, or if the cause already has one. */
  async queue(input: NewMail): Promise<void> {
    await this.insert(input, { unsubscribeUrl: input.unsubscribeUrl });
  }

  /**
   * Queues the last mail to a person who is erased in the same transaction, after everything else was. The address is in the sealed content
   * alone, which is removed with the attempt that ends it.
   */
  async queueToErased(input: NewMail): Promise<void> {
    await this.insert({ ...input, address: ERASED }, { to: input.address });
  }

  private async insert(input: NewMail, more: Pick<MailContent, 'unsubscribeUrl' | 'to'>): Promise<void> {
    if (!this.isOn) return;
    requireTransaction('A mail');
    const id = newId('mail');
    await this.repository.insert({
      id,
      kind: input.kind,
      userId: input.userId ?? null,
      clientId: input.clientId ?? null,
      address: input.address,
      cause: input.cause,
      usefulSeconds: input.usefulSeconds ?? null,
      sealedContent: this.sealed(id, {
        ...renderMail(input.mail, this.brand.current, input.language ?? 'en'),
        ...more,
      }),
    });
  }

  /**
   * Queues a mail to a user whose address is verified, and who has not switched off mails of this kind; in the language of the account, or
   * else in that of the input.
   */
  async queueForUser(userId: string, input: Omit<NewMail, 'address' | 'userId'>): Promise<void> {
    if (!this.isOn) return;
    const recipient = await this.repository.recipient(userId);
    if (!recipient?.isVerified) return;
    const { kind } = input;
    const { email: address, unwanted } = recipient;
    const language = recipient.language ?? input.language;
    if (!isOptional(kind)) return this.queue({ ...input, userId, address, language });
    if (unwanted.includes(kind)) return;
    const unsubscribeUrl = this.unsubscribeUrl({ kind, id: userId }, address);
    await this.queue({ ...input, userId, address, language, unsubscribeUrl });
  }

  /** Where someone who has the mail switches off what `of` says, without a login. */
  unsubscribeUrl(of: Unsubscription, address: string): string {
    return `${this.settings.baseUrl}/email/unsubscribe/${this.unsubscribeKeys.make(of, address)}`;
  }

  /** The content of a queued mail; undefined if none of the encryption keys opens it. */
  open(id: string, sealed: Buffer): MailContent | undefined {
    const text = this.box.open(sealed, dataOf(id));
    return text === undefined ? undefined : (JSON.parse(text) as MailContent);
  }

  /** After a change of `ENCRYPTION_KEY`: seals waiting mails under the current key. Returns how many, and those no key opens. */
  async reseal(): Promise<{ resealed: number; unreadable: string[] }> {
    let resealed = 0;
    const unreadable: string[] = [];
    for (let after = ''; ;) {
      const batch = await this.repository.sealedAfter(after, RESEALED_AT_ONCE);
      for (const { id, sealedContent } of batch) {
        if (this.box.isCurrent(sealedContent, dataOf(id))) continue;
        const content = this.open(id, sealedContent);
        if (!content) unreadable.push(id);
        else if (await this.repository.replaceSealed(id, this.sealed(id, content))) resealed++;
      }
      if (batch.length < RESEALED_AT_ONCE) return { resealed, unreadable };
      after = batch.at(-1)!.id;
    }
  }

  /** Newest first. */
  list(filter: MailFilter, page: PageRequest): Promise<Page<MailEntity>> {
    return this.repository.list(filter, page);
  }

  /** The number of mails that wait, counted up to 10,000. */
  countPending(): Promise<number> {
    return this.repository.countPending();
  }

  /**
   * Removes mails to the address of an erased person that were sent before the account existed, or as the contact of a client.
   */
  forget(address: string): Promise<void> {
    return this.repository.deleteByAddress(address);
  }

  private sealed(id: string, content: MailContent): Buffer {
    return this.box.seal(JSON.stringify(content), dataOf(id));
  }
}

const dataOf = (id: string): string => `mail ${id}`;

const isOptional = (kind: MailKind): kind is OptionalMailKind =>
  (OPTIONAL_MAIL_KINDS as readonly MailKind[]).includes(kind);

import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import type { PersonTraces } from '#access/domain/domain-events.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import { OPTIONAL_MAIL_KINDS, type OptionalMailKind } from '#records/mail/mail.entity.js';
import { MailsService } from '#records/mail/mails.service.js';
import { digestOf, isSecret, newLink } from '#platform/secrets/tokens.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { ActorsService } from '../sessions/actors.service.js';
import { EmailLinksRepository } from './email-links.repository.js';

// Contract §18: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;

/** Rolls back the use of a link whose address is no longer the user's. */
class AddressChanged extends Error {}

/** Proof that users receive what is sent to their address, and which mails they want (contract §18). */
@Injectable()
export class EmailVerificationService {
  constructor(
    private readonly links: EmailLinksRepository,
    private readonly users: UsersRepository,
    private readonly mails: MailsService,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly actors: ActorsService,
  ) {}

  /** Mails the user a link that verifies the address; false, and nothing is mailed, if it is verified already. Does nothing without mail. */
  mailLink(userId: string, by?: Actor): Promise<boolean> {
    return this.transactions.run(async () => {
      const user = await this.users.lock(userId);
      if (!user?.enabled || user.emailVerifiedAt !== null) return false;
      await this.queueLink(user, by);
      return true;
    });
  }

  /** The same in the caller's transaction, which has locked the user. */
  async queueLink(
    { id, email, language }: Pick<UserEntity, 'id' | 'email' | 'language'>,
    by?: Actor,
  ): Promise<void> {
    if (!this.mails.isOn) return;
    const { key, digest } = newLink('emailKey');
    await this.links.insert({ digest, purpose: 'verify', userId: id, email, ttl: LINK_TTL_SECONDS });
    await this.mails.queue({
      kind: 'verify_email',
      userId: id,
      address: email,
      cause: `link ${digest.toString('base64url')}`,
      usefulSeconds: LINK_TTL_SECONDS,
      language: language ?? by?.language,
      mail: MAIL_TEXTS.verifyEmail(email, `${this.settings.baseUrl}/email/verify/${key}`),
    });
  }

  /** After a change of address: earlier links end, and the new address gets one unless it is verified already. */
  async replaceLinks(user: Pick<UserEntity, 'id' | 'email' | 'language' | 'emailVerifiedAt'>): Promise<void> {
    await this.links.deleteByUser(user.id);
    if (user.emailVerifiedAt === null) await this.queueLink(user);
  }

  async isVerified(userId: string): Promise<boolean> {
    const user = await this.users.findById(userId);
    return user !== null && user.emailVerifiedAt !== null;
  }

  /** The address that the link verifies; undefined for a link that is used, expired or unknown. */
  async find(key: string): Promise<string | undefined> {
    if (!isSecret('emailKey', key)) return undefined;
    return (await this.links.find(digestOf(key), 'verify'))?.email;
  }

  /** Verifies the address by its link, which is used up in the same transaction. False for a link that no longer works. */
  async confirm(key: string, actor: Actor): Promise<boolean> {
    if (!isSecret('emailKey', key)) return false;
    try {
      return await this.transactions.run(async () => {
        const link = await this.links.use(digestOf(key), 'verify');
        if (!link?.userId) return false;
        const { userId, email } = link;
        if (!(await this.users.verifyEmail(userId, email))) throw new AddressChanged();
        await this.audit.record(
          { ...actor, type: 'user', id: userId },
          { action: 'user.email_verified', subjectId: userId },
        );
        return true;
      });
    } catch (error) {
      if (error instanceof AddressChanged) return false;
      throw error;
    }
  }

  /** The kinds of mail that the user wants, of those that can be switched off. */
  async wantedMails(userId: string): Promise<OptionalMailKind[]> {
    const unwanted = await this.users.unwantedMails(userId);
    return OPTIONAL_MAIL_KINDS.filter((kind) => !unwanted.includes(kind));
  }

  async setWantedMails(userId: string, wanted: string[], actor: Actor): Promise<void> {
    const unwanted = OPTIONAL_MAIL_KINDS.filter((kind) => !wanted.includes(kind));
    await this.transactions.run(async () => {
      await this.users.setUnwantedMails(userId, unwanted);
      await this.actors.requireLive(actor);
      await this.audit.record(actor, {
        action: 'user.mails_chosen',
        subjectId: userId,
        after: { unwanted_mails: unwanted },
      });
    });
  }

  /** Mails to the address from before it had an account; everything else is deleted with the account. */
  @OnDomainEvent('user.erased', 2)
  async forget(_userId: string, { emails }: PersonTraces): Promise<void> {
    for (const email of emails) {
      await this.links.deleteByEmail(email);
      await this.mails.forget(email);
    }
  }
}

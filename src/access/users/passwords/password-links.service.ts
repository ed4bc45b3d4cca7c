import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import { MailsService } from '#records/mail/mails.service.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import { say } from '#platform/language/text.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { digestOf, isSecret, newLink } from '#platform/secrets/tokens.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { SealedReturns } from '../emails/sealed-returns.service.js';
import { PasswordLinksRepository, type FoundPasswordLink } from './password-links.repository.js';
import { ActorsService } from '../sessions/actors.service.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { OperatorProtectionService } from '../accounts/operator-protection.service.js';

// Contract §12: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;
// Contract §18: a mailed one within one hour.
const MAILED_LINK_TTL_SECONDS = 3600;

/** What a link that works is about, and where the person was going before the mail. */
export type ShownPasswordLink = Omit<FoundPasswordLink, 'returnTo'> & { returnTo: string | undefined };

/** An account whose password was just set, with the hash of it. */
interface SetPassword {
  user: UserEntity;
  returnTo: string | undefined;
}

/** Looks at a new link in its transaction; throws what refuses it. */
type LinkCheck = () => Promise<void>;

/** One-time links for setting a password. */
@Injectable()
export class PasswordLinksService {
  constructor(
    private readonly links: PasswordLinksRepository,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly returns: SealedReturns,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly protection: OperatorProtectionService,
    private readonly actors: ActorsService,
    private readonly mails: MailsService,
    private readonly notifications: NotificationsService,
  ) {}

  /** Creates a link for the user and returns its URL, only this once; throws a 404 problem for an unknown user, 409 for a driver. `check` throws what refuses it. */
  create(userId: string, actor: Actor, check?: LinkCheck): Promise<string> {
    return this.make(userId, actor, null, check);
  }

  /** The same for the form with this id; undefined if that form has already created its link. */
  async createOnce(
    formId: string,
    userId: string,
    actor: Actor,
    check?: LinkCheck,
  ): Promise<string | undefined> {
    try {
      return await this.make(userId, actor, formId, check);
    } catch (error) {
      if (!isUniqueViolation(error, 'password_links_form_id_key')) throw error;
      return undefined;
    }
  }

  /** Mails a link to the user with this address, if there is one, which then leads to `returnTo`. */
  async mailTo(email: string, returnTo: string | undefined, actor: Actor): Promise<void> {
    const user = await this.users.findByEmail(email);
    if (user) await this.mailToOwner(user, 'forgotten_password', returnTo, actor);
  }

  /** Mails a link to the user, unless the account is disabled or has another address by now, or is an operator’s whose address is not verified. */
  async mailToOwner(
    { id, email, language }: UserEntity,
    kind: 'forgotten_password' | 'account_exists',
    returnTo: string | undefined,
    actor: Actor,
  ): Promise<void> {
    const { key, digest } = newLink('passwordKey');
    const ttl = MAILED_LINK_TTL_SECONDS;
    await this.transactions.run(async () => {
      const link = {
        digest,
        userId: id,
        ttl,
        formId: null,
        mailedTo: email,
        purpose: kind,
        returnTo: this.returns.seal(digest, returnTo),
      };
      if (!(await this.links.insert(link))) return;
      await this.mails.queue({
        kind,
        userId: id,
        address: email,
        cause: `link ${digest.toString('base64url')}`,
        usefulSeconds: ttl,
        language: language ?? actor.language,
        mail: (kind === 'account_exists' ? MAIL_TEXTS.accountExists : MAIL_TEXTS.forgottenPassword)(
          `${this.settings.baseUrl}/password/${key}`,
        ),
      });
      await this.audit.record(actor, { action: 'user.password_link_mailed', subjectId: id });
    });
  }

  private make(userId: string, actor: Actor, formId: string | null, check?: LinkCheck): Promise<string> {
    return this.transactions.run(async () => {
      const { key, digest } = newLink('passwordKey');
      await this.protection.refuseOn(actor, userId);
      const link = {
        digest,
        userId,
        ttl: LINK_TTL_SECONDS,
        formId,
        purpose: 'operator' as const,
      };
      if (!(await this.links.insert(link))) {
        if (await this.users.findById(userId)) {
          throw conflict('This is a driver of a sandbox, as whom nobody logs in.');
        }
        throw notFound('There is no user with this id.');
      }
      await this.actors.requireLive(actor);
      await check?.();
      await this.audit.record(actor, { action: 'user.password_link_created', subjectId: userId });
      if (actor.type !== 'service') {
        const done = [say('An operator created a link with which the password of your account can be set.')];
        await this.notifications.raise(userId, null, MESSAGES.changedByOperator(done));
      }
      return `${this.settings.baseUrl}/password/${key}`;
    });
  }

  /** What the link was issued for; undefined for a link that is used, expired or unknown. */
  async find(key: string): Promise<ShownPasswordLink | undefined> {
    if (!isSecret('passwordKey', key)) return undefined;
    const digest = digestOf(key);
    const link = await this.transactions.run(() => this.links.find(digest));
    return link && { ...link, returnTo: this.returns.open(digest, link.returnTo) };
  }

  /** Sets the password and uses up the link in one transaction. Undefined for a link that no longer works, which costs no hashing. */
  async redeem(key: string, password: string, actor: Actor): Promise<SetPassword | undefined> {
    if (!(await this.find(key))) return undefined;
    const digest = digestOf(key);
    const passwordHash = await hashPassword(password);
    return this.transactions.run(async () => {
      const used = await this.links.use(digest);
      if (used === undefined) return undefined;
      const { userId, mailed } = used;
      const account = (await this.users.findById(userId))!;
      const isProof = mailed && account.emailVerifiedAt === null;
      await this.users.update(userId, {
        passwordHash,
        ...(isProof ? { emailVerified: true } : {}),
      });
      await this.sessions.deleteByUser(userId);
      await this.links.deleteUnused(userId);
      await this.events.say('user.access_ended', userId, 'password_changed');
      await this.audit.record(
        { ...actor, type: 'user', id: userId },
        {
          action: 'user.password_changed',
          subjectId: userId,
          ...(isProof ? { after: { email_verified: true } } : {}),
        },
      );
      await this.notifications.raise(userId, null, MESSAGES.passwordChanged(), actor);
      return { user: { ...account, passwordHash }, returnTo: this.returns.open(digest, used.returnTo) };
    });
  }
}

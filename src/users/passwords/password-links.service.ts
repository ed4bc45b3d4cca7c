import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '../../audit/audit.service.js';
import { Settings } from '../../config/settings.js';
import { isUniqueViolation } from '../../database/queries/database-errors.js';
import { Transactions } from '../../database/queries/transactions.js';
import { MAIL_TEXTS } from '../../mail/mail-texts.js';
import { MailsService } from '../../mail/mails.service.js';
import { MESSAGES } from '../../notifications/message-catalogue.js';
import { NotificationsService } from '../../notifications/notifications.service.js';
import { conflict, notFound } from '../../http/problems/problem.js';
import { hashPassword } from '../../secrets/passwords.js';
import { digestOf, isSecret, newSecret } from '../../secrets/tokens.js';
import { AccessRevocations } from '../accounts/access-revocations.js';
import { PasswordLinksRepository } from './password-links.repository.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { UsersService } from '../accounts/users.service.js';

// Contract §12: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;
// Contract §18: a mailed one within one hour.
const MAILED_LINK_TTL_SECONDS = 3600;

/** One-time links for setting a password. */
@Injectable()
export class PasswordLinksService {
  constructor(
    private readonly links: PasswordLinksRepository,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly revocations: AccessRevocations,
    private readonly accounts: UsersService,
    private readonly mails: MailsService,
    private readonly notifications: NotificationsService,
  ) {}

  /** Creates a link for the user and returns its URL, only this once; throws a 404 problem for an unknown user, 409 for a driver. */
  create(userId: string, actor: Actor): Promise<string> {
    return this.make(userId, actor, null);
  }

  /** The same for the form with this id; undefined if that form has already created its link. */
  async createOnce(formId: string, userId: string, actor: Actor): Promise<string | undefined> {
    try {
      return await this.make(userId, actor, formId);
    } catch (error) {
      if (!isUniqueViolation(error, 'password_links_form_id_key')) throw error;
      return undefined;
    }
  }

  /** Mails a link to the user with this address, if there is one. */
  async mailTo(email: string, actor: Actor): Promise<void> {
    const user = await this.users.findByEmail(email);
    if (user) await this.mailToOwner(user, 'forgotten_password', actor);
  }

  /** Mails a link to the user, unless the account is disabled or has another address by now. */
  async mailToOwner(
    { id, email }: { id: string; email: string },
    kind: 'forgotten_password' | 'account_exists',
    actor: Actor,
  ): Promise<void> {
    const key = newSecret('passwordKey');
    const digest = digestOf(key);
    const ttl = MAILED_LINK_TTL_SECONDS;
    await this.transactions.run(async (manager) => {
      const link = { digest, userId: id, ttl, formId: null, mailedTo: email };
      if (!(await this.links.insert(manager, link))) return;
      await this.mails.queue(manager, {
        kind,
        userId: id,
        address: email,
        cause: `link ${digest.toString('base64url')}`,
        usefulSeconds: ttl,
        mail: (kind === 'account_exists' ? MAIL_TEXTS.accountExists : MAIL_TEXTS.forgottenPassword)(
          `${this.settings.baseUrl}/password/${key}`,
        ),
      });
      await this.audit.record(manager, actor, {
        action: 'user.password_link_mailed',
        subjectType: 'user',
        subjectId: id,
      });
    });
  }

  private async make(userId: string, actor: Actor, formId: string | null): Promise<string> {
    const key = newSecret('passwordKey');
    await this.transactions.run(async (manager) => {
      await this.accounts.refuseOnOperator(actor, userId, manager);
      const link = { digest: digestOf(key), userId, ttl: LINK_TTL_SECONDS, formId };
      if (!(await this.links.insert(manager, link))) {
        if (await this.users.findById(userId, manager)) {
          throw conflict('This is a driver of a sandbox, as whom nobody logs in.');
        }
        throw notFound('There is no user with this id.');
      }
      await this.audit.record(manager, actor, {
        action: 'user.password_link_created',
        subjectType: 'user',
        subjectId: userId,
      });
      if (actor.type !== 'service') {
        const done = ['created a link with which the password of your account can be set'];
        await this.notifications.raise(manager, userId, null, MESSAGES.changedByOperator(done));
      }
    });
    return `${this.settings.baseUrl}/password/${key}`;
  }

  /** The user of the link; undefined for a link that is used, expired or unknown. */
  async find(key: string): Promise<{ email: string } | undefined> {
    if (!isSecret('passwordKey', key)) return undefined;
    return this.transactions.run((manager) => this.links.findUser(manager, digestOf(key)));
  }

  /** Sets the password and uses up the link in one transaction. False for a link that no longer works, which costs no hashing. */
  async redeem(key: string, password: string, actor: Actor): Promise<boolean> {
    if (!(await this.find(key))) return false;
    const passwordHash = await hashPassword(password);
    return this.transactions.run(async (manager) => {
      const used = await this.links.use(manager, digestOf(key));
      if (used === undefined) return false;
      const { userId, mailed } = used;
      const account = (await this.users.findById(userId, manager))!;
      const isProof = mailed && account.emailVerifiedAt === null;
      await this.users.update(manager, userId, {
        passwordHash,
        ...(isProof ? { emailVerified: true } : {}),
      });
      await this.sessions.deleteByUser(manager, userId);
      await this.links.deleteUnused(manager, userId);
      await this.revocations.revokeByUser(manager, userId, 'password_changed');
      await this.audit.record(
        manager,
        { ...actor, type: 'user', id: userId },
        {
          action: 'user.password_changed',
          subjectType: 'user',
          subjectId: userId,
          ...(isProof ? { after: { email_verified: true } } : {}),
        },
      );
      await this.notifications.raise(manager, userId, null, MESSAGES.passwordChanged());
      return true;
    });
  }
}

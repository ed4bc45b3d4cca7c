import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import type { LinkedPerson } from '#access/domain/domain-events.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { EmailLinksRepository } from '../emails/email-links.repository.js';
import { AuthenticatorAppsRepository } from '../factors/authenticator-apps.repository.js';
import { PasskeysRepository } from '../factors/passkeys.repository.js';
import { PendingSignInsRepository } from '../factors/pending-sign-ins.repository.js';
import { RecoveryCodesRepository } from '../factors/recovery-codes.repository.js';
import { PasswordLinksRepository } from '../passwords/password-links.repository.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { UsersRepository } from './users.repository.js';

/** All ways to open an account. They end together when the account gains power, because someone else may have set them. */
@Injectable()
export class SignInWaysService {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly passwordLinks: PasswordLinksRepository,
    private readonly emailLinks: EmailLinksRepository,
    private readonly passkeys: PasskeysRepository,
    private readonly apps: AuthenticatorAppsRepository,
    private readonly codes: RecoveryCodesRepository,
    private readonly pending: PendingSignInsRepository,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
  ) {}

  /** Ends the browsers and the links for a password: the former role ends with them. */
  async endSessions(userId: string): Promise<void> {
    await this.sessions.deleteByUser(userId);
    await this.passwordLinks.deleteByUser(userId);
  }

  /**
   * Ends all of it for a user whom the transaction has locked, in whatever order it was set: the password, passkeys, app, recovery codes,
   * links in mails, sessions, sign-ins under way, and links to providers except to `person`. The address is no longer verified, because
   * a link to it would open the account again. `isNew`: what was set in this transaction, and stays.
   */
  async endAll(
    userId: string,
    actor: Actor,
    { person, isNew = {} }: { person?: LinkedPerson; isNew?: { password?: boolean; email?: boolean } } = {},
  ): Promise<void> {
    await this.endSessions(userId);
    await this.emailLinks.deleteByUser(userId);
    await this.pending.deleteByUser(userId);
    const [identities] = await this.events.say('user.sign_in_ways_ended', userId, person);
    const ended = {
      passkeys: await this.passkeys.deleteByUser(userId),
      authenticator_app: await this.apps.delete(userId),
      identities,
    };
    await this.codes.deleteByUser(userId);
    await this.users.update(userId, {
      ...(isNew.password ? {} : { passwordHash: null }),
      ...(isNew.email ? {} : { emailVerified: false }),
    });
    await this.audit.record(actor, {
      action: 'user.sign_in_ways_ended',
      subjectId: userId,
      before: ended,
    });
  }
}

import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../../audit/audit.service.js';
import { MESSAGES } from '../../notifications/message-catalogue.js';
import { NotificationsService } from '../../notifications/notifications.service.js';
import { EmailVerificationService } from '../emails/email-verification.service.js';
import { PendingSignInsRepository } from '../factors/pending-sign-ins.repository.js';
import { PasswordLinksRepository } from '../passwords/password-links.repository.js';
import { emailKeyOf } from './email.js';
import { auditView } from './user.resource.js';
import type { UserEntity } from './user.entity.js';
import { UsersRepository } from './users.repository.js';

/** The profile of a person at an identity provider. */
export interface Profile {
  name?: string;
  /** Only an address that counts as verified. */
  verifiedEmail?: string;
}

/** Names and addresses of accounts that follow an identity provider (contract §15). */
@Injectable()
export class FollowedProfilesService {
  constructor(
    private readonly users: UsersRepository,
    private readonly emails: EmailVerificationService,
    private readonly passwordLinks: PasswordLinksRepository,
    private readonly pending: PendingSignInsRepository,
    private readonly notifications: NotificationsService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Gives a locked account the name and address that the provider has, and returns the account as it is then. Organisations keep
   * their name, and the address is kept if another account has the new one. If another account gets the address at the same
   * moment, `users_email_key` is violated.
   */
  async follow(
    manager: EntityManager,
    user: UserEntity,
    profile: Profile,
    providerLabel: string,
    actor: Actor,
  ): Promise<UserEntity> {
    const name = user.kind === 'individual' ? (profile.name ?? user.name) : user.name;
    const email = await this.newEmail(manager, user, profile.verifiedEmail);
    if (name === user.name && email === undefined) return user;
    // Before the change, so that the mail goes to the present address.
    if (email !== undefined) {
      const message = MESSAGES.addressFollowed(providerLabel);
      await this.notifications.raise(manager, user.id, null, message, actor);
    }
    const emailVerified = email === undefined ? undefined : true;
    await this.users.update(manager, user.id, { name, email, emailVerified });
    const changed = { ...user, name, ...(email === undefined ? {} : { email, emailVerifiedAt: new Date() }) };
    // Someone who now receives the mail for the old address must not get in with it. The person is the same, so sessions and
    // access continue.
    if (email !== undefined) {
      await this.passwordLinks.deleteByUser(manager, user.id);
      await this.pending.deleteByUser(manager, user.id);
      await this.emails.replaceLinks(manager, changed);
    }
    await this.audit.record(manager, actor, {
      action: 'user.updated',
      subjectId: user.id,
      ...changesBetween(auditView(user), auditView(changed)),
    });
    return changed;
  }

  private async newEmail(
    manager: EntityManager,
    { email }: UserEntity,
    verified: string | undefined,
  ): Promise<string | undefined> {
    if (verified === undefined || emailKeyOf(verified) === emailKeyOf(email)) return undefined;
    return (await this.users.findByEmail(verified, manager)) ? undefined : verified;
  }
}

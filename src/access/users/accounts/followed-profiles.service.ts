import { Injectable } from '@nestjs/common';
import { AuditService, changesBetween, type Actor } from '#records/audit/audit.service.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { EmailVerificationService } from '../emails/email-verification.service.js';
import { PendingSignInsRepository } from '../factors/pending-sign-ins.repository.js';
import { PasswordLinksRepository } from '../passwords/password-links.repository.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { emailKeyOf } from './email.js';
import { auditView } from './user.resource.js';
import type { UserEntity } from './user.entity.js';
import { UsersRepository } from './users.repository.js';

/** What an account gets from an identity provider. */
export interface Profile {
  name?: string;
  /** An address that counts as verified, in place of the present one. */
  email?: string;
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
    private readonly events: DomainEvents,
  ) {}

  /**
   * Tells the user of a locked account, at the present address, that it gets the one that a provider calls verified; returns that. Undefined
   * if it is the same, or another account has it.
   */
  async tell(
    user: UserEntity,
    verified: string | undefined,
    providerLabel: string,
    actor: Actor,
  ): Promise<string | undefined> {
    const email = await this.newEmail(user, verified);
    if (email === undefined) return undefined;
    await this.notifications.raise(user.id, null, MESSAGES.addressFollowed(providerLabel), actor);
    return email;
  }

  /**
   * Gives a locked account the name that the provider has, and the address of which `tell` told; returns the account as it is then.
   * Organisations keep their name. If another account gets the address at the same moment, `users_email_key` is violated.
   */
  async follow(user: UserEntity, profile: Profile, actor: Actor): Promise<UserEntity> {
    const { email } = profile;
    const name = user.kind === 'individual' ? (profile.name ?? user.name) : user.name;
    if (name === user.name && email === undefined) return user;
    const emailVerified = email === undefined ? undefined : true;
    if (email !== undefined && user.operatorRole !== null) {
      await this.events.say('operator.address_changing', user.id, actor);
    }
    await this.users.update(user.id, { name, email, emailVerified });
    const changed = { ...user, name, ...(email === undefined ? {} : { email, emailVerifiedAt: new Date() }) };
    // Someone who now receives the mail for the old address must not get in with it. The person is the same, so sessions and
    // access continue.
    if (email !== undefined) {
      await this.passwordLinks.deleteByUser(user.id);
      await this.pending.deleteByUser(user.id);
      await this.emails.replaceLinks(changed);
    }
    await this.audit.record(actor, {
      action: 'user.updated',
      subjectId: user.id,
      ...changesBetween(auditView(user), auditView(changed)),
    });
    return changed;
  }

  private async newEmail({ email }: UserEntity, verified: string | undefined): Promise<string | undefined> {
    if (verified === undefined || emailKeyOf(verified) === emailKeyOf(email)) return undefined;
    return (await this.users.findByEmail(verified)) ? undefined : verified;
  }
}

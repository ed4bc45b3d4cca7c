import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../../audit/audit.service.js';
import type { OperatorRole } from '../../config/operator-role.js';
import { MESSAGES } from '../../notifications/message-catalogue.js';
import { NotificationsService } from '../../notifications/notifications.service.js';
import { newId } from '../../secrets/ids.js';
import { PasswordLinksRepository } from '../passwords/password-links.repository.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { emailKeyOf } from './email.js';
import { auditView } from './user-changes.js';
import type { UserEntity } from './user.entity.js';
import { UsersRepository } from './users.repository.js';

/** What a sign-in through an identity provider does with accounts, in the caller's transaction. */
@Injectable()
export class LinkedAccountsService {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly passwordLinks: PasswordLinksRepository,
    private readonly notifications: NotificationsService,
    private readonly audit: AuditService,
  ) {}

  /** Reads the account with its password hash and locks it until the transaction ends. */
  lock(manager: EntityManager, by: { id: string } | { email: string }): Promise<UserEntity | null> {
    return this.users.lockWithPassword(manager, by);
  }

  /** Notes that the address is the account's own, if it has this one: a provider calls it verified (contract §18). */
  async noteVerified(manager: EntityManager, { id, email }: UserEntity, verified: string): Promise<void> {
    if (emailKeyOf(verified) === emailKeyOf(email)) await this.users.verifyEmail(manager, id, email);
  }

  /** Creates an account without a password, whose address is verified. An email that is taken is a violation of `users_email_key`. */
  async create(
    manager: EntityManager,
    { email, name, operatorRole }: { email: string; name: string; operatorRole: OperatorRole | null },
    actor: Actor,
  ): Promise<UserEntity> {
    const id = newId('user');
    await this.users.insert(manager, {
      id,
      email,
      name,
      kind: 'individual',
      role: operatorRole ? 'operator' : 'user',
      operatorRole,
      passwordHash: null,
      webhooksEnabled: true,
      enabled: true,
      emailVerified: true,
    });
    const user = (await this.users.lockWithPassword(manager, { id }))!;
    await this.audit.record(manager, actor, {
      action: 'user.created',
      subjectType: 'user',
      subjectId: id,
      after: auditView(user),
    });
    return user;
  }

  /**
   * Gives a locked account another role, which ends its sessions and password links; does nothing if it is the same. The last enabled
   * admin stays one, whatever a provider says. Returns the account as it is then.
   */
  async setRole(
    manager: EntityManager,
    user: UserEntity,
    operatorRole: OperatorRole | null,
    actor: Actor,
  ): Promise<UserEntity> {
    if (user.operatorRole === operatorRole) return user;
    if (user.operatorRole === 'admin') {
      const admins = await this.users.lockAdmins(manager);
      if (admins.length <= 1) return user;
    }
    const roles = { role: operatorRole ? 'operator' : 'user', operatorRole } as const;
    await this.users.update(manager, user.id, roles);
    await this.sessions.deleteByUser(manager, user.id);
    await this.passwordLinks.deleteByUser(manager, user.id);
    await this.notifications.raise(manager, user.id, null, MESSAGES.operatorRoleChanged(operatorRole));
    const changed = { ...user, ...roles };
    await this.audit.record(manager, actor, {
      action: 'user.updated',
      subjectType: 'user',
      subjectId: user.id,
      ...changesBetween(auditView(user), auditView(changed)),
    });
    return changed;
  }
}

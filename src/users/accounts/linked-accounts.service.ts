import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../../audit/audit.service.js';
import { newId } from '../../secrets/ids.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import type { UserEntity, UserRole } from './user.entity.js';
import { UsersRepository } from './users.repository.js';
import { auditView } from './users.service.js';

/** What a sign-in through an identity provider does with accounts, in the caller's transaction. */
@Injectable()
export class LinkedAccountsService {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly audit: AuditService,
  ) {}

  /** Reads the account with its password hash and locks it until the transaction ends. */
  lock(manager: EntityManager, by: { id: string } | { email: string }): Promise<UserEntity | null> {
    return this.users.lockWithPassword(manager, by);
  }

  /** Creates an account without a password. An email that is taken is a violation of `users_email_key`. */
  async create(
    manager: EntityManager,
    { email, name, role }: { email: string; name: string; role: UserRole },
    actor: Actor,
  ): Promise<UserEntity> {
    const id = newId('user');
    await this.users.insert(manager, {
      id,
      email,
      name,
      kind: 'individual',
      role,
      passwordHash: null,
      webhooksEnabled: true,
      enabled: true,
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

  /** Gives a locked account another role, which ends its sessions; does nothing if it is the same. Returns the account as it is then. */
  async setRole(
    manager: EntityManager,
    user: UserEntity,
    role: UserRole,
    actor: Actor,
  ): Promise<UserEntity> {
    if (user.role === role) return user;
    await this.users.update(manager, user.id, { role });
    await this.sessions.deleteByUser(manager, user.id);
    const changed = { ...user, role };
    await this.audit.record(manager, actor, {
      action: 'user.updated',
      subjectType: 'user',
      subjectId: user.id,
      ...changesBetween(auditView(user), auditView(changed)),
    });
    return changed;
  }
}

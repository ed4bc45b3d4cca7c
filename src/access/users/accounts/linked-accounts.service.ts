import { Injectable } from '@nestjs/common';
import { AuditService, changesBetween, type Actor } from '#records/audit/audit.service.js';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { newId } from '#platform/secrets/ids.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import type { LinkedPerson } from '#access/domain/domain-events.js';
import { emailKeyOf } from './email.js';
import { OperatorProtectionService } from './operator-protection.service.js';
import { isGain, RoleChanges } from './role-changes.service.js';
import { SignInWaysService } from './sign-in-ways.service.js';
import { auditView } from './user.resource.js';
import type { UserEntity } from './user.entity.js';
import { UsersRepository } from './users.repository.js';

/** Changes of accounts by sign-ins through an identity provider, in the caller's transaction (called by `ProviderAccounts`). */
@Injectable()
export class LinkedAccountsService {
  constructor(
    private readonly users: UsersRepository,
    private readonly protection: OperatorProtectionService,
    private readonly roles: RoleChanges,
    private readonly ways: SignInWaysService,
    private readonly events: DomainEvents,
    private readonly audit: AuditService,
  ) {}

  /** Reads the account with its password hash and locks it until the transaction ends. */
  lock(by: { id: string } | { email: string }): Promise<UserEntity | null> {
    return this.users.lockWithPassword(by);
  }

  /** Whether the account counts as an operator’s. */
  countsAsOperator(user: UserEntity): Promise<boolean> {
    return this.protection.counts(user);
  }

  /** Ends all ways to open a locked account except the address, which the person has just proven. Returns the changed account. */
  async endWays(user: UserEntity, actor: Actor): Promise<UserEntity> {
    await this.ways.endAll(user.id, actor, { isNew: { email: true } });
    return { ...user, passwordHash: null };
  }

  /** Marks the locked account's address as verified, if it is the one that a provider calls verified (contract §18). */
  async noteVerified(
    { id, email, emailVerifiedAt }: UserEntity,
    verified: string,
    actor: Actor,
  ): Promise<void> {
    if (emailVerifiedAt !== null || emailKeyOf(verified) !== emailKeyOf(email)) return;
    if (!(await this.users.verifyEmail(id, email))) return;
    await this.audit.record({ ...actor, type: 'user', id }, { action: 'user.email_verified', subjectId: id });
  }

  /** Creates an account without a password, whose address is verified. An email that is taken is a violation of `users_email_key`. */
  async create(
    { email, name, operatorRole }: { email: string; name: string; operatorRole: OperatorRole | null },
    actor: Actor,
  ): Promise<UserEntity> {
    const id = newId('user');
    await this.users.insert({
      id,
      email,
      name,
      language: actor.language ?? null,
      kind: 'individual',
      role: operatorRole ? 'operator' : 'user',
      operatorRole,
      passwordHash: null,
      webhooksEnabled: true,
      enabled: true,
      emailVerified: true,
    });
    const user = (await this.users.lockWithPassword({ id }))!;
    await this.audit.record(actor, {
      action: 'user.created',
      subjectId: id,
      after: auditView(user),
    });
    return user;
  }

  /**
   * Gives a locked account another role, with all consequences (`RoleChanges`); does nothing if it is the same. The last enabled
   * admin stays one, whatever a provider says. `person`: who signs in now. Returns the changed account.
   */
  async setRole(
    user: UserEntity,
    operatorRole: OperatorRole | null,
    actor: Actor,
    person: LinkedPerson & { verifiedEmail?: string },
  ): Promise<UserEntity> {
    if (user.operatorRole === operatorRole) return user;
    if (user.operatorRole === 'admin') {
      const admins = await this.users.lockAdmins();
      if (admins.every((id) => id === user.id)) return user;
    }
    const roles = { role: operatorRole ? 'operator' : 'user', operatorRole } as const;
    const isProven =
      person.verifiedEmail !== undefined && emailKeyOf(person.verifiedEmail) === emailKeyOf(user.email);
    const ended = isGain(user, roles)
      ? { passwordHash: null, ...(isProven ? {} : { emailVerifiedAt: null }) }
      : {};
    const changed = { ...user, ...roles, ...ended };
    await this.roles.tell(user.id, user, changed);
    await this.users.update(user.id, roles);
    if (user.operatorRole === 'admin') await this.events.say('admin.ended', user.id, actor);
    await this.roles.follow(user.id, user, changed, actor, {
      person,
      isNew: { email: isProven },
    });
    await this.audit.record(actor, {
      action: 'user.updated',
      subjectId: user.id,
      ...changesBetween(auditView(user), auditView(changed)),
    });
    return changed;
  }
}

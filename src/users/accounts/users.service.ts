import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../../audit/audit.service.js';
import { isForeignKeyViolation, isUniqueViolation } from '../../database/queries/database-errors.js';
import { Transactions } from '../../database/queries/transactions.js';
import { conflict, notFound } from '../../http/problems/problem.js';
import type { Page, PageRequest } from '../../database/queries/read-page.js';
import { MESSAGES } from '../../notifications/message-catalogue.js';
import { NotificationsService } from '../../notifications/notifications.service.js';
import { newId } from '../../secrets/ids.js';
import { hashPassword } from '../../secrets/passwords.js';
import { AccessRevocations } from './access-revocations.js';
import { EmailVerificationService } from '../emails/email-verification.service.js';
import { PasswordLinksRepository } from '../passwords/password-links.repository.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { operatorChanges } from './operator-changes.js';
import { UserErasures } from './user-erasures.js';
import type { UserEntity, UserKind, UserRole } from './user.entity.js';
import { UsersRepository } from './users.repository.js';

export interface NewUser {
  email: string;
  name: string;
  kind?: UserKind;
  role?: UserRole;
  password?: string;
  webhooksEnabled?: boolean;
  /** Whether the address counts as verified, by somebody who vouches for it. */
  emailVerified?: boolean;
}

/** A user to insert: with the hash of the password, if there is one. */
type NewAccount = Omit<NewUser, 'password'> & { passwordHash: string | null };
type InsertAccount = (account: NewAccount, actor: Actor) => Promise<UserEntity>;

export type UserChanges = Partial<NewUser & { enabled: boolean }>;

/** Accounts of end users, organisations and operators (contract §2). Every change is an audit event in its transaction. */
@Injectable()
export class UsersService {
  constructor(
    private readonly repository: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly passwordLinks: PasswordLinksRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly revocations: AccessRevocations,
    private readonly erasures: UserErasures,
    private readonly emails: EmailVerificationService,
    private readonly notifications: NotificationsService,
  ) {}

  find(id: string): Promise<UserEntity | null> {
    return this.repository.findById(id);
  }

  /** The user; throws a 404 problem. */
  async get(id: string): Promise<UserEntity> {
    return (await this.repository.findById(id)) ?? this.missing();
  }

  findByEmail(email: string): Promise<UserEntity | null> {
    return this.repository.findByEmail(email);
  }

  list(q: string | undefined, page: PageRequest): Promise<Page<UserEntity>> {
    return this.repository.list(q, page);
  }

  /** Creates a user; throws a 409 problem for an email that is taken. */
  async create(input: NewUser, actor: Actor): Promise<UserEntity> {
    const passwordHash = input.password === undefined ? null : await hashPassword(input.password);
    return this.createBy((_manager, insert) => insert({ ...input, passwordHash }, actor));
  }

  /** Creates a user in a transaction that also does something else; throws a 409 problem for an email that is taken. */
  createBy<T>(work: (manager: EntityManager, insert: InsertAccount) => Promise<T>): Promise<T> {
    return this.translatingConflicts(() =>
      this.transactions.run((manager) =>
        work(manager, (account, actor) => this.insert(manager, account, actor)),
      ),
    );
  }

  private async insert(manager: EntityManager, input: NewAccount, actor: Actor): Promise<UserEntity> {
    const id = newId('user');
    await this.repository.insert(manager, {
      id,
      email: input.email,
      name: input.name,
      kind: input.kind ?? 'individual',
      role: input.role ?? 'user',
      passwordHash: input.passwordHash,
      webhooksEnabled: input.webhooksEnabled ?? true,
      enabled: true,
      emailVerified: input.emailVerified,
    });
    const user = (await this.repository.findById(id, manager))!;
    const isSelf = actor.type === 'user' && actor.id === null;
    await this.audit.record(manager, isSelf ? { ...actor, id } : actor, {
      action: 'user.created',
      subjectType: 'user',
      subjectId: id,
      after: auditView(user),
    });
    return user;
  }

  /**
   * Updates a user. Disabling, a new password and a new email end the tokens, codes, links and sessions of the user, in the same
   * transaction. Disabling also ends the client-credentials access of the user's own clients; disabling webhooks ends the portal
   * sessions of the user's clients.
   */
  async update(id: string, changes: UserChanges, actor: Actor): Promise<UserEntity> {
    if (Object.values(changes).every((value) => value === undefined)) return this.get(id);
    const passwordHash = changes.password === undefined ? undefined : await hashPassword(changes.password);
    return this.translatingConflicts(() =>
      this.transactions.run(async (manager) => {
        const before = (await this.repository.lock(manager, id)) ?? this.missing();
        const { email, name, kind, role, webhooksEnabled, enabled } = changes;
        const isNewEmail = email !== undefined && email !== before.email;
        // A new address is not verified, unless somebody vouches for it.
        const emailVerified =
          changes.emailVerified === true && before.emailVerifiedAt !== null && !isNewEmail
            ? undefined
            : (changes.emailVerified ?? (isNewEmail ? false : undefined));
        const values = { email, name, kind, role, webhooksEnabled, enabled, passwordHash, emailVerified };
        // Before the change, so that the mail goes to the address that the user still has.
        await this.tellOwner(manager, before, changes, actor);
        await this.repository.update(manager, id, values);
        const after = (await this.repository.findById(id, manager))!;
        if (isNewEmail) await this.emails.replaceLinks(manager, after);
        await this.revokeDependents(manager, before, after, passwordHash !== undefined);
        const difference = changesBetween(auditView(before), auditView(after));
        if (difference) {
          await this.audit.record(manager, actor, {
            action: 'user.updated',
            subjectType: 'user',
            subjectId: id,
            ...difference,
          });
        }
        if (passwordHash !== undefined) {
          await this.audit.record(manager, actor, {
            action: 'user.password_changed',
            subjectType: 'user',
            subjectId: id,
          });
        }
        return after;
      }),
    );
  }

  /**
   * Erases the user: the account and everything that belongs to it. Each client that could read the user's data is notified; the
   * audit log keeps only ids. An owner of clients gets a 409.
   */
  async erase(id: string, actor: Actor): Promise<void> {
    try {
      await this.transactions.run(async (manager) => {
        if (!(await this.repository.lockForErasure(manager, id))) this.missing();
        const kept = await this.erasures.run(manager, id);
        await this.repository.delete(manager, id);
        await this.repository.forgetInAuditLog(manager, id);
        await this.audit.record(manager, actor, {
          action: 'user.erased',
          subjectType: 'user',
          subjectId: id,
          before: kept,
        });
      });
    } catch (error) {
      if (!isForeignKeyViolation(error, 'clients_owner_id_fkey')) throw error;
      throw conflict('This user owns clients. Delete them first, then erase the user.');
    }
  }

  /** Tells the user what an operator does to the account. */
  private async tellOwner(
    manager: EntityManager,
    before: UserEntity,
    changes: UserChanges,
    actor: Actor,
  ): Promise<void> {
    if (actor.type === 'service' || actor.id === before.id) return;
    const done = operatorChanges(before, changes);
    if (done.length === 0) return;
    await this.notifications.raise(manager, before.id, null, MESSAGES.changedByOperator(done));
  }

  private async revokeDependents(
    manager: EntityManager,
    before: UserEntity,
    after: UserEntity,
    newPassword: boolean,
  ): Promise<void> {
    const disabled = before.enabled && !after.enabled;
    const newEmail = before.email !== after.email;
    if (before.webhooksEnabled && !after.webhooksEnabled) {
      await this.revocations.revokePortals(manager, { ownerId: after.id });
    }
    if (!disabled && !newEmail && !newPassword) return;
    const reason = disabled ? 'user_disabled' : newPassword ? 'password_changed' : 'email_changed';
    await this.sessions.deleteByUser(manager, after.id);
    await this.passwordLinks.deleteByUser(manager, after.id);
    await this.revocations.revokeByUser(manager, after.id, reason);
    if (disabled) await this.revocations.revokeByOwner(manager, after.id, reason);
  }

  private async translatingConflicts<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isUniqueViolation(error, 'users_email_key')) throw conflict('Another user has this email address.');
      throw error;
    }
  }

  private missing(): never {
    throw notFound('There is no user with this id.');
  }
}

const auditView = ({ email, emailVerifiedAt, name, kind, role, webhooksEnabled, enabled }: UserEntity) => ({
  email,
  email_verified: emailVerifiedAt !== null,
  name,
  kind,
  role,
  webhooks_enabled: webhooksEnabled,
  enabled,
});

import { Injectable } from '@nestjs/common';
import { AuditService, changesBetween, type Actor } from '#records/audit/audit.service.js';
import { isForeignKeyViolation, isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { newId } from '#platform/secrets/ids.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { OperatorProtectionService, refuseGivingPower } from './operator-protection.service.js';
import { EmailVerificationService } from '../emails/email-verification.service.js';
import { PendingSignInsRepository } from '../factors/pending-sign-ins.repository.js';
import { PasswordLinksRepository } from '../passwords/password-links.repository.js';
import { ActorsService } from '../sessions/actors.service.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { RoleChanges } from './role-changes.service.js';
import {
  emailVerifiedAfter,
  isAdmin,
  mayEndAdmin,
  onlyForOperators,
  refuseForDriver,
  rolesAfter,
} from './user-changes.js';
import type { UserEntity } from './user.entity.js';
import { auditView, USER, type NewUser, type UserChanges } from './user.resource.js';
import { UsersRepository, type NamedUsers, type UserFilter } from './users.repository.js';
import { say } from '#platform/language/text.js';

type Changes = Partial<Pick<UserEntity, 'email' | 'enabled' | 'webhooksEnabled' | 'passwordHash'>>;

/** Changes by operators that the owner of an account is notified of. A change of role has its own notification. */
function operatorChanges(before: UserEntity, changes: Changes): string[] {
  const { email, enabled, passwordHash, webhooksEnabled } = changes;
  return [
    ...(email !== undefined && email !== before.email
      ? [say('An operator changed the email address of your account.')]
      : []),
    ...(passwordHash !== undefined ? [say('An operator set a new password for your account.')] : []),
    ...(enabled !== undefined && enabled !== before.enabled
      ? [enabled ? say('An operator enabled your account.') : say('An operator disabled your account.')]
      : []),
    ...(webhooksEnabled !== undefined && webhooksEnabled !== before.webhooksEnabled
      ? [
          webhooksEnabled
            ? say('An operator opened the webhook portal to your applications.')
            : say('An operator closed the webhook portal to your applications.'),
        ]
      : []),
  ];
}

/** A user to insert, with the hash of the password and the id, if they are given. */
type NewAccount = Omit<NewUser, 'password'> & { passwordHash: string | null; id?: string; enabled?: boolean };
type InsertAccount = (account: NewAccount, actor: Actor) => Promise<UserEntity>;

/**
 * Checks a change while the user is locked; throws to refuse it. `adminsLeft`: how many enabled admins remain if the user is no
 * longer one; all of them are locked then.
 */
export type ChangeCheck = (
  before: UserEntity,
  after: UserEntity,
  adminsLeft: number | undefined,
) => Promise<void>;

/** Accounts of end users, organisations and operators (contract §2). Every change is an audit event in its transaction. */
@Injectable()
export class UsersService {
  constructor(
    private readonly repository: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly actors: ActorsService,
    private readonly protection: OperatorProtectionService,
    private readonly roleChanges: RoleChanges,
    private readonly passwordLinks: PasswordLinksRepository,
    private readonly pending: PendingSignInsRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly notifications: NotificationsService,
    private readonly emails: EmailVerificationService,
  ) {}

  find(id: string): Promise<UserEntity | null> {
    return this.repository.findById(id);
  }

  /** The user; throws a 404 problem. */
  async get(id: string): Promise<UserEntity> {
    return (await this.repository.findById(id)) ?? this.missing();
  }

  /** The names of these users, as far as they still exist. */
  namesOf(ids: string[]): Promise<Pick<UserEntity, 'id' | 'name'>[]> {
    return this.repository.namesOf(ids);
  }

  findByEmail(email: string): Promise<UserEntity | null> {
    return this.repository.findByEmail(email);
  }

  /** The names of the first live ones, or of the first operators, by id. */
  firstNames(limit: number, only?: 'operators'): Promise<Pick<UserEntity, 'id' | 'name'>[]> {
    return this.repository.firstNames(limit, only);
  }

  list(filter: UserFilter, page: PageRequest): Promise<Page<UserEntity>> {
    return this.repository.list(filter, page);
  }

  /** The user, share-locked until the transaction ends. */
  hold(id: string): Promise<UserEntity | null> {
    return this.repository.hold(id);
  }

  /** Creates a user; throws a 409 problem for an email that is taken. */
  async create(input: NewUser, actor: Actor): Promise<UserEntity> {
    const { role = 'user' } = input;
    const operatorRole = role === 'operator' ? (input.operatorRole ?? 'admin') : null;
    if (role !== 'operator' && input.operatorRole !== undefined) throw onlyForOperators();
    refuseGivingPower(actor, EVERYBODY, { ...EVERYBODY, role }, false);
    const passwordHash = input.password === undefined ? null : await hashPassword(input.password);
    return this.createBy(async (insert) => {
      // Hashing takes long enough for the actor to lose the role.
      await this.actors.requireLive(actor);
      return insert({ ...input, operatorRole: operatorRole ?? undefined, passwordHash }, actor);
    });
  }

  /** Creates a user in a transaction that also does something else; throws a 409 problem for an email that is taken. */
  createBy<T>(work: (insert: InsertAccount) => Promise<T>): Promise<T> {
    return this.translatingConflicts(() =>
      this.transactions.run(() => work((account, actor) => this.insert(account, actor))),
    );
  }

  private async insert(input: NewAccount, actor: Actor): Promise<UserEntity> {
    const { id = newId('user') } = input;
    const isSelf = actor.type === 'user' && actor.id === null;
    const [user] = await this.insertAll(
      [{ ...input, id, language: input.language ?? (isSelf ? actor.language : undefined) }],
      isSelf ? { ...actor, id } : actor,
    );
    return user!;
  }

  /** Creates users with their ids. */
  insertAll(inputs: readonly (NewAccount & { id: string })[], actor: Actor): Promise<UserEntity[]> {
    return this.transactions.run(async () => {
      await this.repository.insertAll(
        inputs.map(({ id, passwordHash, enabled = true, sandboxOwnerId, ...input }) => ({
          ...USER.complete(input),
          ...{ id, passwordHash, enabled, sandboxOwnerId },
        })),
      );
      const users = await this.repository.findAll(inputs.map(({ id }) => id));
      const entries = users.map((user) => ({
        ...({ action: 'user.created', subjectId: user.id } as const),
        after: auditView(user),
      }));
      await this.audit.recordAll(actor, entries);
      return users;
    });
  }

  /** The live users with these ids or addresses; with `organisations`, also all organisations. By id. */
  listNamed(named: NamedUsers): Promise<UserEntity[]> {
    return this.repository.listNamed(named);
  }

  /**
   * Updates a user. Disabling, a new password and a new email end the tokens, codes, links and sessions of the user, in the same
   * transaction. Disabling also ends the client-credentials access of the user's own clients; disabling webhooks ends the portal
   * sessions of the user's clients; another operator role ends what `RoleChanges` says. The last enabled admin stays one (409).
   */
  async update(
    id: string,
    { password, passwordHash: hashedBefore, ...changes }: UserChanges & { passwordHash?: string },
    actor: Actor,
    check?: ChangeCheck,
  ): Promise<UserEntity> {
    const passwordHash = password === undefined ? hashedBefore : await hashPassword(password);
    if (Object.values({ ...changes, passwordHash }).every((value) => value === undefined))
      return this.get(id);
    return this.transactions.run(async () => {
      const admins = mayEndAdmin(changes) ? await this.lockAdminsWith(id) : [];
      const before = (await this.repository.lock(id)) ?? this.missing();
      await this.actors.requireLive(actor);
      await this.protection.refuse(actor, before);
      refuseForDriver(before, changes, passwordHash !== undefined);
      const { email, name, language, kind, webhooksEnabled, enabled } = changes;
      const isNewEmail = email !== undefined && email !== before.email;
      const roles = rolesAfter(before, changes);
      const values = {
        email,
        name,
        language,
        kind,
        ...roles,
        webhooksEnabled,
        enabled,
        passwordHash,
        emailVerified: emailVerifiedAfter(before, changes, isNewEmail),
      };
      // Before the change, so that the mail goes to the present address.
      await this.roleChanges.tell(id, before, { ...before, ...roles });
      await this.tellOwner(before, { ...changes, passwordHash }, actor);
      if (isNewEmail && before.operatorRole !== null) {
        await this.events.say('operator.address_changing', id, actor);
      }
      await this.translatingConflicts(() => this.repository.update(id, values));
      const changed = (await this.repository.findById(id))!;
      refuseGivingPower(actor, before, changed, passwordHash !== undefined);
      const endsAdmin = isAdmin(before) && !isAdmin(changed);
      const adminsLeft = endsAdmin ? await this.othersThan(id, admins) : undefined;
      await check?.(before, changed, adminsLeft);
      if (endsAdmin) await this.events.say('admin.ended', id, actor);
      await this.revokeDependents(before, changed, passwordHash !== undefined);
      const isNew = { password: passwordHash !== undefined, email: changes.emailVerified === true };
      await this.roleChanges.follow(id, before, changed, actor, { isNew });
      const after = (await this.repository.findById(id))!;
      // After all links have ended with a role that is gained, so that this one works.
      if (isNewEmail) await this.emails.replaceLinks(after);
      const difference = changesBetween(auditView(before), auditView(after));
      if (difference) {
        await this.audit.record(actor, { action: 'user.updated', subjectId: id, ...difference });
      }
      if (passwordHash !== undefined) {
        await this.audit.record(actor, { action: 'user.password_changed', subjectId: id });
      }
      return after;
    });
  }

  /**
   * Erases the user: the account and everything that belongs to it. Each client that could read the user's data is notified; the
   * audit log keeps only ids. An owner of clients gets a 409. `check` throws to refuse it.
   */
  erase(id: string, actor: Actor, check?: () => Promise<void>): Promise<void> {
    return this.transactions.run(async () => {
      const admins = await this.lockAdminsWith(id);
      if (!(await this.repository.lockForErasure(id))) this.missing();
      await this.actors.requireLive(actor);
      const user = (await this.repository.findById(id))!;
      await this.protection.refuse(actor, user);
      if (isAdmin(user)) {
        await this.othersThan(id, admins);
        await this.events.say('admin.ended', id, actor);
      }
      try {
        const kept = await this.events.say('user.erased', id, await this.repository.tracesOf(id));
        await this.repository.delete(id);
        await this.repository.forgetInAuditLog(id);
        await this.audit.record(actor, {
          action: 'user.erased',
          subjectId: id,
          before: Object.assign({}, ...kept),
        });
      } catch (error) {
        if (!OWNER_KEYS.some((key) => isForeignKeyViolation(error, key))) throw error;
        throw conflict('This user owns clients. Delete them first, then erase the user.');
      }
      await check?.();
    });
  }

  /** Notifies the user of what an operator does to the account. */
  private async tellOwner(
    before: UserEntity,
    changes: UserChanges & { passwordHash?: string },
    actor: Actor,
  ): Promise<void> {
    if (actor.type === 'service' || actor.id === before.id) return;
    const done = operatorChanges(before, changes);
    if (done.length === 0) return;
    await this.notifications.raise(before.id, null, MESSAGES.changedByOperator(done));
  }

  private async revokeDependents(before: UserEntity, after: UserEntity, newPassword: boolean): Promise<void> {
    const disabled = before.enabled && !after.enabled;
    const newEmail = before.email !== after.email;
    if (before.webhooksEnabled && !after.webhooksEnabled) {
      await this.events.say('owner.webhooks_disabled', after.id);
    }
    if (!disabled && !newEmail && !newPassword) return;
    const reason = disabled ? 'user_disabled' : newPassword ? 'password_changed' : 'email_changed';
    await this.sessions.deleteByUser(after.id);
    await this.passwordLinks.deleteByUser(after.id);
    await this.pending.deleteByUser(after.id);
    await this.events.say('user.access_ended', after.id, reason);
    if (disabled) await this.events.say('owner.disabled', after.id);
  }

  /**
   * Locks all enabled admins if the user is one of them, before the user: changes that could remove the last admin lock in this
   * order.
   */
  private async lockAdminsWith(id: string): Promise<string[]> {
    const user = await this.repository.findById(id);
    return user && isAdmin(user) ? this.repository.lockAdmins() : [];
  }

  /**
   * The number of enabled admins without this one; throws a 409 problem for the last. `locked`: the enabled admins; none if the user
   * became one only after they were asked for.
   */
  private async othersThan(id: string, locked: string[]): Promise<number> {
    const admins = locked.length > 0 ? locked : await this.repository.lockAdmins();
    const others = admins.filter((admin) => admin !== id).length;
    if (others === 0) throw conflict('This is the last enabled admin. Make someone else an admin first.');
    return others;
  }

  private async translatingConflicts<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isUniqueViolation(error, 'users_email_key'))
        throw conflict(say('Another user has this email address.'));
      throw error;
    }
  }

  private missing(): never {
    throw notFound('There is no user with this id.');
  }
}

/** The foreign keys of clients to their owners. */
const OWNER_KEYS = ['clients_owner_id_fkey', 'clients_owner_realm_fkey'];

/** A user without any rows that refer to it. */
const EVERYBODY = { role: 'user', webhooksEnabled: true } as const;

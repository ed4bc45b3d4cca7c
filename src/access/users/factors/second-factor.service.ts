import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import { MESSAGES, type FactorName } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { OperatorProtectionService } from '../accounts/operator-protection.service.js';
import type { UserEntity, UserRole } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { ActorsService, type ActingIn } from '../sessions/actors.service.js';
import type { SignedInUser } from '../sessions/signed-in-user.js';
import { SECURITY_PATH, confirmPathFor } from './factor-paths.js';
import { AuthenticatorAppsRepository } from './authenticator-apps.repository.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { PendingSignInsRepository } from './pending-sign-ins.repository.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { RecoveryCodesService } from './recovery-codes.service.js';

/** What a user has besides the password. */
export interface SecondFactorState {
  passkeys: number;
  authenticatorApp: boolean;
  recoveryCodesLeft: number;
}

/** Second factors of users: which ones they have, when one is asked for, and what applies to every kind (contract §16). */
@Injectable()
export class SecondFactorService {
  constructor(
    private readonly passkeys: PasskeysRepository,
    private readonly apps: AuthenticatorAppsRepository,
    private readonly codes: RecoveryCodesRepository,
    private readonly recoveryCodes: RecoveryCodesService,
    private readonly pending: PendingSignInsRepository,
    private readonly users: UsersRepository,
    private readonly protection: OperatorProtectionService,
    private readonly sessions: SessionsRepository,
    private readonly actors: ActorsService,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
  ) {}

  async stateOf(userId: string): Promise<SecondFactorState> {
    const [passkeys, app, recoveryCodesLeft] = await Promise.all([
      this.passkeys.count(userId),
      this.apps.find(userId),
      this.codes.count(userId),
    ]);
    return { passkeys, authenticatorApp: app !== null, recoveryCodesLeft };
  }

  /** Whether the user must have a factor. */
  isRequiredFor({ role }: { role: UserRole }): boolean {
    return this.settings.secondFactorForOperators && role === 'operator';
  }

  /** Whether the password alone does not log this user in: with an app, and with passkeys where a factor is required. */
  async isAskedAfterPassword(user: { id: string; role: UserRole }): Promise<boolean> {
    if ((await this.apps.find(user.id)) !== null) return true;
    return this.isRequiredFor(user) && (await this.passkeys.count(user.id)) > 0;
  }

  /** Whether the user has a factor to give when logging in here again: who came from a provider authenticates there. */
  async canGive({ id, method }: Pick<SignedInUser, 'id' | 'method'>): Promise<boolean> {
    if (method === 'provider') return false;
    return (await this.apps.find(id)) !== null || (await this.passkeys.count(id)) > 0;
  }

  /**
   * Where an operator who needs a second factor is led before the console: to set one up, or to give it in this session, which
   * then leads to `returnTo`; undefined if nothing is missing.
   */
  async leadingToFactor(user: SignedInUser, returnTo: string): Promise<string | undefined> {
    if (user.gaveSecondFactor || !this.isRequiredFor(user)) return undefined;
    if (!(await this.isAskedAfterPassword(user))) return SECURITY_PATH;
    return confirmPathFor(returnTo);
  }

  /** Whether the user may change the factors: after recent authentication, which includes the factor if one is asked for. */
  async mayChange(user: SignedInUser): Promise<boolean> {
    if (!user.gavePasswordRecently) return false;
    return user.gaveSecondFactor || !(await this.isAskedAfterPassword(user));
  }

  /**
   * Adds a factor that the user has just given in this session, by `add`, in one transaction. Returns recovery codes with an app if there
   * are none: they replace its code, and nothing else. Other changes of the user's factors wait. If `add` says when the app was added
   * before, nobody is told again, and codes made since then do not count: nobody may have seen them.
   */
  add(
    user: SignedInUser,
    factor: FactorName,
    actor: Actor,
    add: () => Promise<'added' | { addedAt: Date }>,
  ): Promise<string[] | undefined> {
    return this.transactions.run(async () => {
      await this.lock(user.id, user);
      const outcome = await add();
      await this.sessions.noteSecondFactor(user.sessionDigest);
      if (outcome === 'added') {
        await this.notifications.raise(user.id, null, MESSAGES.secondFactorAdded(factor), actor);
      }
      const seen =
        outcome === 'added'
          ? await this.codes.count(user.id)
          : await this.codes.countBefore(user.id, outcome.addedAt);
      return factor === 'app' && seen === 0 ? this.recoveryCodes.replace(user.id, actor) : undefined;
    });
  }

  /**
   * Removes a factor by `remove`, in one transaction; with the app, the recovery codes. Throws a 409 problem for the last factor of a
   * user who must have one.
   */
  async remove(
    user: SignedInUser,
    factor: FactorName,
    actor: Actor,
    remove: () => Promise<void>,
  ): Promise<void> {
    await this.transactions.run(async () => {
      const { role } = await this.lock(user.id, user);
      await remove();
      if (this.isRequiredFor({ role }) && !(await this.hasAny(user.id))) {
        throw conflict(say('Operators need a second factor. Add another one first, then remove this one.'));
      }
      if ((await this.apps.find(user.id)) === null) await this.codes.deleteByUser(user.id);
      await this.notifications.raise(user.id, null, MESSAGES.secondFactorRemoved(factor), actor);
    });
  }

  /** Makes new recovery codes in place of those before; throws a 409 problem for a user without an app. */
  makeRecoveryCodes(user: SignedInUser, actor: Actor): Promise<string[]> {
    const userId = user.id;
    return this.transactions.run(async () => {
      await this.lock(userId, user);
      if ((await this.apps.find(userId)) === null) {
        throw conflict(say('Recovery codes replace the code of an authenticator app. Set one up first.'));
      }
      const codes = await this.recoveryCodes.replace(userId, actor);
      await this.notifications.raise(userId, null, MESSAGES.recoveryCodesMade(), actor);
      return codes;
    });
  }

  /**
   * Removes all that someone else has besides the password, and ends the sessions. Does nothing for a user without a factor; `check` throws
   * what refuses it for others.
   * Throws a 404 problem for an unknown user, a 409 problem for one's own account, and a 403 problem for an operator's account
   * unless an admin asks.
   */
  async reset(
    userId: string,
    own: string | undefined,
    actor: Actor,
    check?: () => Promise<void>,
  ): Promise<void> {
    if (userId === own) {
      throw conflict('You cannot reset your own second factor. Change it on your account page.');
    }
    await this.transactions.run(async () => {
      await this.protection.refuse(actor, await this.lock(userId, actor));
      const passkeys = await this.passkeys.deleteByUser(userId);
      const authenticatorApp = await this.apps.delete(userId);
      if (passkeys === 0 && !authenticatorApp) return;
      await check?.();
      await this.codes.deleteByUser(userId);
      await this.pending.deleteByUser(userId);
      await this.sessions.deleteByUser(userId);
      await this.audit.record(actor, {
        action: 'user.second_factor_reset',
        subjectId: userId,
        before: { passkeys, authenticator_app: authenticatorApp },
      });
      await this.notifications.raise(userId, null, MESSAGES.secondFactorReset());
    });
  }

  /** Throws what `ActorsService.requireLive` does if the caller may no longer do this once the lock is free. */
  private async lock(userId: string, by: ActingIn): Promise<UserEntity> {
    const user = await this.users.lock(userId);
    await this.actors.requireLive(by);
    if (!user) throw notFound('There is no user with this id.');
    return user;
  }

  private async hasAny(userId: string): Promise<boolean> {
    return (await this.apps.find(userId)) !== null || (await this.passkeys.count(userId)) > 0;
  }
}

import { Param } from '@nestjs/common';
import { Context } from '../../../http/page-routes/page-context.js';
import { GrantsService } from '../../../tokens/grants.service.js';
import { SecondFactorService } from '../../../users/factors/second-factor.service.js';
import { UsersService } from '../../../users/accounts/users.service.js';
import { COUNTED_UP_TO } from '../clients/client-action.page.js';
import type { ConsoleAnswer, ConsoleNotice, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { attempt, type FieldErrors } from '../form-attempt.js';
import { userActionPage, type UserAction } from './user-action.page.js';
import { USERS_PATH, userPath } from './user-layout.js';

/** Actions that end a user or what depends on the account, or change the role; each with a page before it that says so. */
@ConsolePages('users/:id')
export class ConsoleUserActionsController {
  constructor(
    private readonly users: UsersService,
    private readonly grants: GrantsService,
    private readonly factors: SecondFactorService,
  ) {}

  @ConsoleGet('disable', 'asked')
  askToDisable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'disable');
  }

  @ConsolePost('disable', 'asked')
  disable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'disable', 'user_disabled', () =>
      this.users.update(id, { enabled: false }, context.actor),
    );
  }

  @ConsolePost('enable', 'asked on the page above')
  async enable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.users.update(id, { enabled: true }, context.actor);
    return { goTo: userPath(id), notice: 'user_enabled' };
  }

  @ConsoleGet('revoke', 'asked')
  askToRevoke(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'revoke');
  }

  @ConsolePost('revoke', 'asked')
  revoke(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'revoke', 'tokens_revoked', () =>
      this.grants.revokeForUser(id, context.actor),
    );
  }

  @ConsoleGet('make-operator', 'asked')
  askToMakeOperator(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'make-operator');
  }

  @ConsolePost('make-operator', 'asked')
  makeOperator(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'make-operator', 'operator_made', () =>
      this.users.update(id, { role: 'operator' }, context.actor),
    );
  }

  @ConsoleGet('remove-operator', 'asked')
  askToUnmakeOperator(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'remove-operator');
  }

  @ConsolePost('remove-operator', 'asked')
  removeOperator(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'remove-operator', 'operator_removed', () =>
      this.users.update(id, { role: 'user' }, context.actor),
    );
  }

  @ConsoleGet('reset-second-factor', 'asked')
  askToResetSecondFactor(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
  ): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'reset-second-factor');
  }

  /** Resets the second factor of somebody else; for oneself it is refused, with the reason. */
  @ConsolePost('reset-second-factor', 'asked')
  resetSecondFactor(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'reset-second-factor', 'second_factor_reset', () =>
      this.factors.reset(id, context.user.id, context.actor),
    );
  }

  @ConsoleGet('erase', 'asked')
  askToErase(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'erase');
  }

  /** Erases the user; an owner of clients is refused, with the reason. */
  @ConsolePost('erase', 'asked')
  erase(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const work = () => this.users.erase(id, context.actor);
    return this.perform(context, id, 'erase', 'user_erased', work, USERS_PATH);
  }

  private async perform(
    context: ConsoleContext,
    id: string,
    action: UserAction,
    notice: ConsoleNotice,
    work: () => Promise<unknown>,
    goTo = userPath(id),
  ): Promise<ConsoleAnswer> {
    const { errors } = await attempt(work);
    return errors ? this.ask(context, id, action, errors) : { goTo, notice };
  }

  private async ask(
    context: ConsoleContext,
    id: string,
    action: UserAction,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const grants = await this.grants.countLive({ userId: id }, COUNTED_UP_TO);
    const isSelf = id === context.user.id;
    return { page: userActionPage({ user, action, grants, isSelf, errors }), status: errors ? 409 : 200 };
  }
}

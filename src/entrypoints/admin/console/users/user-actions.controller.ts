import { Param } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { USER } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { UserChangesDto } from '../../api/users/admin-users.dto.js';
import { FourEyes, type Outcome } from '../../approvals/four-eyes.service.js';
import { waitingFor } from '../approvals/waiting-for.js';
import { COUNTED_UP_TO } from '../clients/client-action.page.js';
import type { ConsoleAnswer, ConsoleNotice, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { attempt, formValue } from '../form-attempt.js';
import { userActionPage, type UserAction } from './user-action.page.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { USERS_PATH, userPath } from './user-layout.js';

/** Actions that end a user or what depends on the account, or change the role; each behind a confirmation page. */
@ConsolePages('users/:id')
export class ConsoleUserActionsController {
  constructor(
    private readonly users: UsersService,
    private readonly grants: GrantsService,
    private readonly protection: OperatorProtectionService,
    private readonly fourEyes: FourEyes,
    private readonly settings: Settings,
  ) {}

  @ConsoleGet('disable', 'asked', 'support')
  askToDisable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'disable');
  }

  @ConsolePost('disable', 'asked', 'support')
  disable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'disable', 'user_disabled', () =>
      this.fourEyes.updateUser(id, { enabled: false }, context.actor),
    );
  }

  @ConsolePost('enable', 'asked on the page above', 'support')
  async enable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const outcome = await this.fourEyes.updateUser(id, { enabled: true }, context.actor);
    return outcome.waiting ? waitingFor(outcome.waiting) : { goTo: userPath(id), notice: 'user_enabled' };
  }

  @ConsoleGet('revoke', 'asked', 'support')
  askToRevoke(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'revoke');
  }

  @ConsolePost('revoke', 'asked', 'support')
  revoke(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'revoke', 'tokens_revoked', async () => ({
      done: await this.grants.revokeForUser(id, context.actor),
    }));
  }

  @ConsoleGet('make-operator', 'asked')
  askToMakeOperator(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'make-operator');
  }

  @ConsolePost('make-operator', 'asked')
  makeOperator(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'make-operator', 'operator_made', async () => {
      const members = { role: 'operator', operator_role: context.form.get('operator_role') ?? '' };
      const changes = USER.changesOf(await formValue(UserChangesDto, members));
      return this.fourEyes.updateUser(id, changes, context.actor);
    });
  }

  @ConsoleGet('remove-operator', 'asked')
  askToUnmakeOperator(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'remove-operator');
  }

  @ConsolePost('remove-operator', 'asked')
  removeOperator(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'remove-operator', 'operator_removed', () =>
      this.fourEyes.updateUser(id, { role: 'user' }, context.actor),
    );
  }

  @ConsoleGet('reset-second-factor', 'asked', 'support')
  askToResetSecondFactor(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
  ): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'reset-second-factor');
  }

  /** Resets the second factor of someone else; for oneself it is refused, with the reason. */
  @ConsolePost('reset-second-factor', 'asked', 'support')
  resetSecondFactor(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.perform(context, id, 'reset-second-factor', 'second_factor_reset', () =>
      this.fourEyes.resetSecondFactor(id, context.user.id, context.actor),
    );
  }

  @ConsoleGet('erase', 'asked')
  askToErase(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(context, id, 'erase');
  }

  /** Erases the user, or asks a second admin to; an owner of clients is refused, with the reason. */
  @ConsolePost('erase', 'asked')
  erase(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const work = () => this.fourEyes.eraseUser(id, context.actor);
    return this.perform(context, id, 'erase', 'user_erased', work, USERS_PATH);
  }

  private async perform(
    context: ConsoleContext,
    id: string,
    action: UserAction,
    notice: ConsoleNotice,
    work: () => Promise<Outcome<unknown>>,
    goTo = userPath(id),
  ): Promise<ConsoleAnswer> {
    const { result: outcome, errors } = await attempt(work);
    if (errors) return this.ask(context, id, action, errors);
    return outcome.waiting ? waitingFor(outcome.waiting) : { goTo, notice };
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
    const { fourEyes, passwordSignIn: withPassword } = this.settings;
    const isProtected = await this.protection.counts(user);
    const about = { user, action, grants, isSelf, isProtected, fourEyes, withPassword };
    const page = userActionPage({ ...about, errors });
    return { page, status: errors ? (errors.form ? 409 : 400) : 200 };
  }
}

import { Param } from '@nestjs/common';
import { GrantsService } from '../../../tokens/grants.service.js';
import { UsersService } from '../../../users/users.service.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleNotice, ConsoleVisit } from '../console-visit.js';
import { attempt, type FieldErrors } from '../form-attempt.js';
import { COUNTED_UP_TO } from '../clients/client-ending.page.js';
import { userEndingPage, type UserEnding } from './user-ending.page.js';
import { USERS_PATH, userPath } from './user-frame.js';

/** Actions that end a user or what depends on the account, or change the role; each with a page before it that says so. */
@ConsolePages('users/:id')
export class ConsoleUserEndingsController {
  constructor(
    private readonly users: UsersService,
    private readonly grants: GrantsService,
  ) {}

  @ConsoleGet('disable', 'asked')
  askToDisable(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'disable');
  }

  @ConsolePost('disable', 'asked')
  disable(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.end(visit, id, 'disable', 'user_disabled', () =>
      this.users.update(id, { enabled: false }, visit.actor),
    );
  }

  @ConsolePost('enable', 'asked on the page above')
  async enable(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.users.update(id, { enabled: true }, visit.actor);
    return { goTo: userPath(id), notice: 'user_enabled' };
  }

  @ConsoleGet('revoke', 'asked')
  askToRevoke(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'revoke');
  }

  @ConsolePost('revoke', 'asked')
  revoke(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.end(visit, id, 'revoke', 'tokens_revoked', () => this.grants.revokeForUser(id, visit.actor));
  }

  @ConsoleGet('make-operator', 'asked')
  askToMakeOperator(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'make-operator');
  }

  @ConsolePost('make-operator', 'asked')
  makeOperator(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.end(visit, id, 'make-operator', 'operator_made', () =>
      this.users.update(id, { role: 'operator' }, visit.actor),
    );
  }

  @ConsoleGet('unmake-operator', 'asked')
  askToUnmakeOperator(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'unmake-operator');
  }

  @ConsolePost('unmake-operator', 'asked')
  unmakeOperator(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.end(visit, id, 'unmake-operator', 'operator_unmade', () =>
      this.users.update(id, { role: 'user' }, visit.actor),
    );
  }

  @ConsoleGet('erase', 'asked')
  askToErase(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'erase');
  }

  /** Erases the user; an owner of clients is refused, with the reason. */
  @ConsolePost('erase', 'asked')
  erase(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const work = () => this.users.erase(id, visit.actor);
    return this.end(visit, id, 'erase', 'user_erased', work, USERS_PATH);
  }

  private async end(
    visit: ConsoleVisit,
    id: string,
    ending: UserEnding,
    notice: ConsoleNotice,
    work: () => Promise<unknown>,
    goTo = userPath(id),
  ): Promise<ConsoleAnswer> {
    const { errors } = await attempt(work);
    return errors ? this.ask(visit, id, ending, errors) : { goTo, notice };
  }

  private async ask(
    visit: ConsoleVisit,
    id: string,
    ending: UserEnding,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const grants = await this.grants.countLive({ userId: id }, COUNTED_UP_TO);
    const csrfToken = visit.tokenFor(userPath(id, ending));
    const isSelf = id === visit.user.id;
    const html = userEndingPage({ frame: visit.frame, user, ending, grants, isSelf, csrfToken, errors });
    return { html, status: errors ? 409 : 200 };
  }
}

import { Param } from '@nestjs/common';
import { GrantsService } from '../../../tokens/grants.service.js';
import { UsersService } from '../../../users/users.service.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleNotice, ConsoleVisit } from '../console-visit.js';
import { attempt, type FieldErrors } from '../form-attempt.js';
import { COUNTED_UP_TO } from '../clients/client-ending.page.js';
import { secondLook } from '../second-look.js';
import { userEndingPage, type UserEnding } from './user-ending.page.js';
import { USERS_PATH, userPath } from './user-frame.js';

/** What ends a user or what rests on the account, or changes the role; each with a page before that says so. */
@ConsolePages('users/:id')
export class ConsoleUserEndingsController {
  constructor(
    private readonly users: UsersService,
    private readonly grants: GrantsService,
  ) {}

  @Shows('disable')
  askToDisable(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'disable');
  }

  @Does('disable')
  disable(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.end(visit, id, 'disable', 'user_disabled', () =>
      this.users.update(id, { enabled: false }, visit.actor),
    );
  }

  @Does('enable')
  async enable(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.users.update(id, { enabled: true }, visit.actor);
    return { goTo: userPath(id), notice: 'user_enabled' };
  }

  @Shows('revoke')
  async askToRevoke(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return secondLook(visit, userPath(id, 'revoke')) ?? this.ask(visit, id, 'revoke');
  }

  @Does('revoke')
  async revoke(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const work = () => this.grants.revokeForUser(id, visit.actor);
    return secondLook(visit, userPath(id, 'revoke')) ?? this.end(visit, id, 'revoke', 'tokens_revoked', work);
  }

  @Shows('make-operator')
  async askToMakeOperator(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return secondLook(visit, userPath(id, 'make-operator')) ?? this.ask(visit, id, 'make-operator');
  }

  @Does('make-operator')
  async makeOperator(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const work = () => this.users.update(id, { role: 'operator' }, visit.actor);
    return (
      secondLook(visit, userPath(id, 'make-operator')) ??
      this.end(visit, id, 'make-operator', 'operator_made', work)
    );
  }

  @Shows('unmake-operator')
  askToUnmakeOperator(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'unmake-operator');
  }

  @Does('unmake-operator')
  unmakeOperator(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.end(visit, id, 'unmake-operator', 'operator_unmade', () =>
      this.users.update(id, { role: 'user' }, visit.actor),
    );
  }

  @Shows('erase')
  async askToErase(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return secondLook(visit, userPath(id, 'erase')) ?? this.ask(visit, id, 'erase');
  }

  /** Erases the person; the owner of clients is refused, with the reason. */
  @Does('erase')
  async erase(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const work = () => this.users.erase(id, visit.actor);
    return (
      secondLook(visit, userPath(id, 'erase')) ??
      this.end(visit, id, 'erase', 'user_erased', work, USERS_PATH)
    );
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

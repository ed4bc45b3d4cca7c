import { Param } from '@nestjs/common';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { PasswordLinksService } from '../../../users/password-links.service.js';
import { UsersService } from '../../../users/users.service.js';
import { NewUserDto, toNewUser, toUserChanges, UserChangesDto, UsersQuery } from '../../admin-users.dto.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { listQuery } from '../list-query.js';
import { EMPTY_USER, userFieldsIn, userFieldsOf, type UserFields } from './user-form.js';
import { USERS_PATH, userPath } from './user-frame.js';
import { editUserPage, newUserPage } from './user-form.pages.js';
import { passwordLinkPage, userPage } from './user.pages.js';
import { usersPage } from './users.page.js';

/** Users in the console: looked for, made, looked at and changed. */
@ConsolePages('users')
export class ConsoleUsersController {
  constructor(
    private readonly users: UsersService,
    private readonly passwordLinks: PasswordLinksService,
  ) {}

  @Shows()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const query = await listQuery(UsersQuery, visit.url);
    const page = await this.users.list(query.q, pageRequestOf(query));
    return { html: usersPage({ frame: visit.frame, page, q: query.q }) };
  }

  @Shows('new')
  askForNew(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    return this.newForm(visit, EMPTY_USER);
  }

  /** Makes a user, who sets a password by a link that an operator makes. */
  @Does('new')
  async create(@Visit() visit: ConsoleVisit, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const fields = userFieldsIn(form);
    const { done, errors } = await attempt(async () =>
      this.users.create(toNewUser(await formValue(NewUserDto, { ...fields })), visit.actor),
    );
    if (errors) return this.newForm(visit, fields, errors);
    return { goTo: userPath(done.id), notice: 'user_created' };
  }

  @Shows(':id')
  async show(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    return { html: userPage({ frame: visit.frame, user, tokenFor: visit.tokenFor }) };
  }

  @Shows(':id/edit')
  async askForChanges(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const csrfToken = visit.tokenFor(userPath(id, 'edit'));
    return { html: editUserPage({ frame: visit.frame, user, fields: userFieldsOf(user), csrfToken }) };
  }

  @Does(':id/edit')
  async change(
    @Visit() visit: ConsoleVisit,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const fields = userFieldsIn(form);
    const { errors } = await attempt(async () =>
      this.users.update(id, toUserChanges(await formValue(UserChangesDto, { ...fields })), visit.actor),
    );
    if (!errors) return { goTo: userPath(id), notice: 'user_changed' };
    const csrfToken = visit.tokenFor(userPath(id, 'edit'));
    return { html: editUserPage({ frame: visit.frame, user, fields, csrfToken, errors }), status: 400 };
  }

  /** Makes a link to set a password; the page that follows shows it, this once. */
  @Does(':id/password-link')
  async makePasswordLink(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const url = await this.passwordLinks.create(id, visit.actor);
    return { html: passwordLinkPage({ frame: visit.frame, user, url }) };
  }

  private newForm(visit: ConsoleVisit, fields: UserFields, errors?: FieldErrors): ConsoleAnswer {
    const csrfToken = visit.tokenFor(`${USERS_PATH}/new`);
    return {
      html: newUserPage({ frame: visit.frame, fields, csrfToken, errors }),
      status: errors ? 400 : 200,
    };
  }
}

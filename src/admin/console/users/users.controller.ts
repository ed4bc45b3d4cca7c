import { Param } from '@nestjs/common';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { conflict } from '../../../http/problem.js';
import { PasswordLinksService } from '../../../users/password-links.service.js';
import { UsersService } from '../../../users/users.service.js';
import { NewUserDto, toNewUser, toUserChanges, UserChangesDto, UsersQuery } from '../../admin-users.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { listQuery, NOTHING, typedFilter } from '../list-query.js';
import { EMPTY_USER, givesPower, userFieldsIn, userFieldsOf, type UserFields } from './user-form.js';
import { USERS_PATH, userPath } from './user-frame.js';
import { editUserPage, newUserPage } from './user-form.pages.js';
import { passwordLinkPage, userPage } from './user.pages.js';
import { usersPage } from './users.page.js';

/** Users in the console: search, create, view and edit. */
@ConsolePages('users')
export class ConsoleUsersController {
  constructor(
    private readonly users: UsersService,
    private readonly passwordLinks: PasswordLinksService,
  ) {}

  @ConsoleGet()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(UsersQuery, visit.url));
    if (errors) {
      const { q } = typedFilter(visit.url);
      return { html: usersPage({ frame: visit.frame, page: NOTHING, q, errors }), status: 400 };
    }
    const page = await this.users.list(query.q, pageRequestOf(query));
    return { html: usersPage({ frame: visit.frame, page, q: query.q }) };
  }

  @ConsoleGet('new')
  askForNew(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    return this.newForm(visit, EMPTY_USER);
  }

  /** Creates a user, who sets a password with a link that an operator creates. */
  @ConsolePost('new', 'not asked')
  async create(@Visit() visit: ConsoleVisit, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const fields = userFieldsIn(form);
    const { done, errors } = await attempt(async () =>
      this.users.create(toNewUser(await formValue(NewUserDto, { ...fields })), visit.actor),
    );
    if (errors) return this.newForm(visit, fields, besideEmail(errors));
    return { goTo: userPath(done.id), notice: 'user_created' };
  }

  @ConsoleGet(':id')
  async show(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const isSelf = id === visit.user.id;
    const once = visit.onceFor('form', linkPath(id));
    const html = userPage({ frame: visit.frame, user, isSelf, once, tokenFor: visit.tokenFor });
    return { html, withScript: true };
  }

  @ConsoleGet(':id/edit')
  async askForChanges(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const csrfToken = visit.tokenFor(userPath(id, 'edit'));
    return { html: editUserPage({ frame: visit.frame, user, fields: userFieldsOf(user), csrfToken }) };
  }

  @ConsolePost(':id/edit', 'asked in the form')
  async change(
    @Visit() visit: ConsoleVisit,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const fields = userFieldsIn(form);
    const ask = givesPower(user, fields) ? await visit.askPassword(form) : undefined;
    const { errors } = ask
      ? { errors: ask }
      : await attempt(async () =>
          this.users.update(id, toUserChanges(await formValue(UserChangesDto, { ...fields })), visit.actor),
        );
    if (!errors) return { goTo: userPath(id), notice: 'user_changed' };
    const csrfToken = visit.tokenFor(userPath(id, 'edit'));
    const props = { frame: visit.frame, user, fields, csrfToken, errors: besideEmail(errors) };
    return { html: editUserPage(props), status: 400 };
  }

  /** Creates a link to set a password, once, and only for others; the next page shows it, once. */
  @ConsolePost(':id/password-link', 'asked on the page above')
  async makePasswordLink(
    @Visit() visit: ConsoleVisit,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    if (id === visit.user.id) {
      throw conflict(
        'You cannot create a password link for yourself. Change your password on your account page.',
      );
    }
    const goTo = linkPath(id);
    const url = await this.passwordLinks.createOnce(visit.onceIn(form, 'form', goTo), id, visit.actor);
    return url === undefined ? { goTo } : { goTo, showOnce: { url } };
  }

  /** The link that was just created, shown once. */
  @ConsoleGet(':id/password-link')
  async showPasswordLink(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const shown = visit.takeShown() as { url: string } | undefined;
    return { html: passwordLinkPage({ frame: visit.frame, user, url: shown?.url }), withScript: true };
  }

  private newForm(visit: ConsoleVisit, fields: UserFields, errors?: FieldErrors): ConsoleAnswer {
    const csrfToken = visit.tokenFor(`${USERS_PATH}/new`);
    return {
      html: newUserPage({ frame: visit.frame, fields, csrfToken, errors }),
      status: errors ? 400 : 200,
    };
  }
}

const linkPath = (id: string): string => userPath(id, 'password-link');

/** Conflict errors are shown at the email, the only field that two users cannot share. */
const besideEmail = ({ form, ...errors }: FieldErrors): FieldErrors =>
  form ? { ...errors, email: form } : errors;

import { Param } from '@nestjs/common';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { conflict } from '../../../http/problem.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { PasswordLinksService } from '../../../users/password-links.service.js';
import { UsersService } from '../../../users/users.service.js';
import { NewUserDto, toNewUser, toUserChanges, UserChangesDto, UsersQuery } from '../../admin-users.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { listQuery, NOTHING, typedFilter } from '../list-query.js';
import { EMPTY_USER, givesPower, userFieldsIn, userFieldsOf, type UserFields } from './user-form.js';
import { USERS_PATH, userPath } from './user-layout.js';
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
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(UsersQuery, context.url));
    if (errors) {
      const { q } = typedFilter(context.url);
      return { html: usersPage({ layoutProps: context.layoutProps, page: NOTHING, q, errors }), status: 400 };
    }
    const page = await this.users.list(query.q, pageRequestOf(query));
    return { html: usersPage({ layoutProps: context.layoutProps, page, q: query.q }) };
  }

  @ConsoleGet('new')
  askForNew(@Context() context: ConsoleContext): ConsoleAnswer {
    return this.newForm(context, EMPTY_USER);
  }

  /** Creates a user, who sets a password with a link that an operator creates. */
  @ConsolePost('new', 'not asked')
  async create(@Context() context: ConsoleContext, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const fields = userFieldsIn(form);
    const { done, errors } = await attempt(async () =>
      this.users.create(toNewUser(await formValue(NewUserDto, { ...fields })), context.actor),
    );
    if (errors) return this.newForm(context, fields, besideEmail(errors));
    return { goTo: userPath(done.id), notice: 'user_created' };
  }

  @ConsoleGet(':id')
  async show(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const isSelf = id === context.user.id;
    const once = context.onceFor('form', linkPath(id));
    const html = userPage({
      layoutProps: context.layoutProps,
      user,
      isSelf,
      once,
      tokenFor: context.tokenFor,
    });
    return { html, withScript: true };
  }

  @ConsoleGet(':id/edit')
  async askForChanges(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const csrfToken = context.tokenFor(userPath(id, 'edit'));
    return {
      html: editUserPage({ layoutProps: context.layoutProps, user, fields: userFieldsOf(user), csrfToken }),
    };
  }

  @ConsolePost(':id/edit', 'asked in the form')
  async change(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const fields = userFieldsIn(form);
    const ask = givesPower(user, fields) ? await context.askPassword(form) : undefined;
    const { errors } = ask
      ? { errors: ask }
      : await attempt(async () =>
          this.users.update(id, toUserChanges(await formValue(UserChangesDto, { ...fields })), context.actor),
        );
    if (!errors) return { goTo: userPath(id), notice: 'user_changed' };
    const csrfToken = context.tokenFor(userPath(id, 'edit'));
    const props = { layoutProps: context.layoutProps, user, fields, csrfToken, errors: besideEmail(errors) };
    return { html: editUserPage(props), status: 400 };
  }

  /** Creates a link to set a password, once, and only for others; the next page shows it, once. */
  @ConsolePost(':id/password-link', 'asked on the page above')
  async makePasswordLink(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    if (id === context.user.id) {
      throw conflict(
        'You cannot create a password link for yourself. Change your password on your account page.',
      );
    }
    const goTo = linkPath(id);
    const url = await this.passwordLinks.createOnce(context.onceIn(form, 'form', goTo), id, context.actor);
    return url === undefined ? { goTo } : { goTo, showOnce: { url } };
  }

  /** The link that was just created, shown once. */
  @ConsoleGet(':id/password-link')
  async showPasswordLink(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const shown = context.takeShown() as { url: string } | undefined;
    return {
      html: passwordLinkPage({ layoutProps: context.layoutProps, user, url: shown?.url }),
      withScript: true,
    };
  }

  private newForm(context: ConsoleContext, fields: UserFields, errors?: FieldErrors): ConsoleAnswer {
    const csrfToken = context.tokenFor(`${USERS_PATH}/new`);
    return {
      html: newUserPage({ layoutProps: context.layoutProps, fields, csrfToken, errors }),
      status: errors ? 400 : 200,
    };
  }
}

const linkPath = (id: string): string => userPath(id, 'password-link');

/** Conflict errors are shown at the email, the only field that two users cannot share. */
const besideEmail = ({ form, ...errors }: FieldErrors): FieldErrors =>
  form ? { ...errors, email: form } : errors;

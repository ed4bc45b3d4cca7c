import { Param, UseGuards } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import type { CsvColumns } from '#platform/http/page-routes/csv-answer.js';
import { ReadsMuch, ReadsMuchForSearch } from '#platform/http/page-routes/large-reads.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { conflict } from '#platform/http/problems/problem.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { PasswordsAllowedGuard } from '#access/users/passwords/passwords-allowed.guard.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { USER, USER_FORM, type UserFormValues } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { AccountDeletionsService } from '#access/users/closing/account-deletions.service.js';
import { NewUserDto, UserChangesDto, UsersQuery } from '../../api/users/admin-users.dto.js';
import { AdminActions } from '../../actions/admin-actions.service.js';
import { waitingFor } from '../console-context.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { PersonalExports } from '../personal-exports.service.js';
import { filteredList } from '../filtered-list.js';
import { attempt, formValue } from '../form-attempt.js';
import {
  editUserPage,
  newUserPage,
  userChangeGivesPower,
  userFormIn,
  userFormOf,
} from './user-form.pages.js';
import { userPath } from './user-layout.js';
import { passwordLinkPage, userPage } from './user.pages.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { usersPage } from './users.page.js';
import { IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';

/** The filter of the console's users: as in the admin API, and those who are disabled. */
class ConsoleUsersQuery extends UsersQuery {
  @IsOptionalNotNull() @IsOneOf('disabled') state?: 'disabled';
}

const USER_CSV: CsvColumns<UserEntity> = [
  ['id', ({ id }) => id],
  ['name', ({ name }) => name],
  ['email', ({ email }) => email],
  ['kind', ({ kind }) => kind],
  ['environment', ({ environment }) => environment],
  ['role', ({ role }) => role],
  ['operator_role', ({ operatorRole }) => operatorRole],
  ['enabled', ({ enabled }) => enabled],
  ['created_at', ({ createdAt }) => createdAt],
];

/** Users in the console: search, create, view and edit. */
@ConsolePages('users')
export class ConsoleUsersController {
  constructor(
    private readonly users: UsersService,
    private readonly actions: AdminActions,
    private readonly factors: SecondFactorService,
    private readonly deletions: AccountDeletionsService,
    private readonly exports: PersonalExports,
    private readonly settings: Settings,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  @ReadsMuchForSearch()
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(ConsoleUsersQuery, context.url, this.read);
    return { page: usersPage(list), status: list.errors ? 400 : 200 };
  }

  /** Data about many people, so only for admins who entered their password recently. */
  @ConsoleGet('csv', 'asked')
  @ReadsMuch()
  download(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return this.exports.of(context, 'users', USER_CSV, ConsoleUsersQuery, this.read);
  }

  @ConsoleGet('new', 'not asked', 'support')
  askForNew(): ConsoleAnswer {
    return this.newForm(USER_FORM.empty());
  }

  /** Creates a user, who sets a password with a link that an operator creates. */
  @ConsolePost('new', 'not asked', 'support')
  async create(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const fields = userFormIn(context);
    const { result: user, errors } = await attempt(async () =>
      this.users.create(USER.newOf(await formValue(NewUserDto, USER_FORM.newMembers(fields))), context.actor),
    );
    if (errors) return this.newForm(fields, besideEmail(errors));
    return { goTo: userPath(user.id), notice: 'user_created' };
  }

  @ConsoleGet(':id', 'not asked', 'viewer')
  async show(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const isSelf = id === context.user.id;
    const formId = context.formIdFor('form', linkPath(id));
    const { passwordSignIn: withPassword } = this.settings;
    const factor = await this.factors.stateOf(id);
    const deletionDueAt = (await this.deletions.find(id))?.dueAt;
    return { page: userPage({ user, isSelf, formId, factor, deletionDueAt, withPassword }) };
  }

  @ConsoleGet(':id/edit', 'asked in the form', 'support')
  async askForChanges(@Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    return { page: editUserPage({ user, fields: userFormOf(user) }) };
  }

  @ConsolePost(':id/edit', 'asked in the form', 'support')
  async change(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const present = userFormOf(user);
    const fields = userFormIn(context, present);
    const vouchesUnseen = fields.email_verified && !showsEmail(context, fields);
    const work = async () => {
      if (vouchesUnseen) throw conflict(OTHER_ADDRESS);
      return this.actions.run(
        'user.update',
        id,
        USER.changesOf(await formValue(UserChangesDto, USER_FORM.changedMembers(fields, present))),
        context.actor,
      );
    };
    const { result: outcome, errors } = await (userChangeGivesPower(user, fields)
      ? context.attemptWithPassword(work)
      : attempt(work));
    if (outcome?.waiting) return waitingFor(outcome.waiting);
    if (!errors) return { goTo: userPath(id), notice: 'user_changed' };
    const asked = vouchesUnseen ? { ...fields, email_verified: false } : fields;
    return { page: editUserPage({ user, fields: asked, errors: besideEmail(errors) }), status: 400 };
  }

  @ConsolePost(':id/enable', 'asked on the page above', 'support')
  async enable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const { waiting } = await this.actions.run('user.update', id, { enabled: true }, context.actor);
    return waiting ? waitingFor(waiting) : { goTo: userPath(id), notice: 'user_enabled' };
  }

  /** Creates a link to set a password, once, and only for others; the next page shows it, once. */
  @ConsolePost(':id/password-link', 'asked on the page above', 'support')
  @UseGuards(PasswordsAllowedGuard)
  async makePasswordLink(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
  ): Promise<ConsoleAnswer> {
    if (id === context.user.id) {
      throw conflict(
        'You cannot create a password link for yourself. Change your password on your account page.',
      );
    }
    const goTo = linkPath(id);
    const outcome = await this.actions.run(
      'user.create_password_link',
      id,
      {},
      context.actor,
      context.formIdIn('form', goTo),
    );
    if (outcome.waiting) return waitingFor(outcome.waiting);
    const { done: url } = outcome;
    return url === undefined ? { goTo } : { goTo, showOnce: { url } };
  }

  /** The link that was just created, shown once. */
  @ConsoleGet(':id/password-link', 'not asked', 'support')
  @UseGuards(PasswordsAllowedGuard)
  async showPasswordLink(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const shown = context.takeShown() as { url: string } | undefined;
    return { page: passwordLinkPage({ user, url: shown?.url }) };
  }

  private readonly read = (
    { q, operator_role: operatorRole, environment, state }: ConsoleUsersQuery,
    page: PageRequest,
  ): Promise<Page<UserEntity>> =>
    this.users.list({ q, operatorRole, environment, isDisabled: state === 'disabled' }, page);

  private newForm(fields: UserFormValues, errors?: FieldErrors): ConsoleAnswer {
    const { passwordSignIn: withPassword } = this.settings;
    return { page: newUserPage({ fields, errors, withPassword }), status: errors ? 400 : 200 };
  }
}

const linkPath = (id: string): string => userPath(id, 'password-link');

const OTHER_ADDRESS =
  'Someone else has changed the address since you opened this form. Vouch for this one if it is the user’s.';

/** Whether the person has seen the address that the account has, or typed the one that it gets. */
const showsEmail = ({ form }: ConsoleContext, { email }: UserFormValues): boolean =>
  USER_FORM.in(form).email.trim() === email.trim();

/** Conflicts are shown at the email field, because they are about the address. */
const besideEmail = ({ form, ...errors }: FieldErrors): FieldErrors =>
  form ? { ...errors, email: form } : errors;

import { Param } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { validationFailed } from '#platform/http/problems/problem.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { MemberRoleDto } from '../../api/users/admin-members.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { attempt, formValue } from '../form-attempt.js';
import { Pickers } from '../pickers.service.js';
import { namedUser } from '../pages/lists.js';
import { userPath } from './user-layout.js';
import { newMemberPage, removeMemberPage, userMembersPage } from './user-members.pages.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { violation } from '#platform/http/problems/violation.js';

/** The members of an organisation (contract §20). */
@ConsolePages('users/:id/members')
export class ConsoleUserMembersController {
  constructor(
    private readonly users: UsersService,
    private readonly members: MembersService,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    return { page: userMembersPage({ user, members: await this.members.all(id) }) };
  }

  /** Adds a member, or gives one another role: `?user=` names the user. */
  @ConsoleGet('new', 'asked')
  async askToAdd(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.form(id, { user: context.query.get('user') ?? '', role: 'developer' });
  }

  @ConsolePost('new', 'asked')
  async add(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const { form, actor } = context;
    const typed = { user: form.get('user')?.trim() ?? '', role: form.get('role') ?? '' };
    const { errors } = await attempt(async () => {
      const { role } = await formValue(MemberRoleDto, { role: typed.role });
      const user = await namedUser(this.users, typed.user);
      if (!user) throw validationFailed({ user: [violation('unknown_user')] });
      const isMember = (await this.members.all(id)).some(({ userId }) => userId === user.id);
      return isMember
        ? this.members.changeRole(id, user.id, role, actor)
        : this.members.add(id, user.id, role, actor);
    });
    return errors ? this.form(id, typed, errors) : { goTo: userPath(id, 'members'), notice: 'member_saved' };
  }

  @ConsoleGet(':user_id/remove', 'asked')
  async askToRemove(@Param('id') id: string, @Param('user_id') userId: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    return { page: removeMemberPage({ user, member: await this.members.get(id, userId) }) };
  }

  /** Ends the membership, and the member's sessions in the portals of the organisation. */
  @ConsolePost(':user_id/remove', 'asked')
  async remove(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
    @Param('user_id') userId: string,
  ): Promise<ConsoleAnswer> {
    await this.members.remove(id, userId, context.actor);
    return { goTo: userPath(id, 'members'), notice: 'member_removed' };
  }

  private async form(
    id: string,
    typed: { user: string; role: string },
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const users = await this.pickers.users();
    return { page: newMemberPage({ user, typed, users, errors }), status: errors ? 400 : 200 };
  }
}

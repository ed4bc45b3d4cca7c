import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiAnswer, ApiNoContent, ApiPage, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { idOf, oneOf, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { type Member, MEMBER_ROLES } from '#events/partners/members/member.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { MemberRoleDto, NewMemberDto } from './admin-members.dto.js';

/** A member of an organisation, on the wire. */
@ApiSchema({ name: 'Member' })
class MemberView extends viewOf<Member>()({
  user_id: idOf('user'),
  name: text(undefined, { example: 'Ada Example' }),
  email: text(undefined, { format: 'email', example: 'ada@example.com' }),
  role: oneOf(...MEMBER_ROLES),
  added_at: [time(), ({ createdAt }) => createdAt],
}) {}

/** The members of organisations, in the admin API (contract §20). */
@Controller('admin/users/:id/members')
@AdminApi()
export class AdminMembersController {
  constructor(
    private readonly users: UsersService,
    private readonly members: MembersService,
  ) {}

  @Get()
  @AdminRead(
    'listMembers',
    'The members of an organisation',
    'By the id of the user. The owner’s own account is always an admin and not among them.',
  )
  @ApiPage(MemberView)
  async list(@PathId('id', 'user') id: string, @Query() query: PageQuery): Promise<ListAnswer<MemberView>> {
    const organisation = await this.users.get(id);
    return listAnswer(
      await this.members.list(organisation.id, pageRequestOf(query)),
      MemberView.of,
      ({ userId }) => userId,
    );
  }

  @Post()
  @AdminWrite(
    'addMember',
    'Add a member to an organisation',
    'The user is told. A member already, the owner itself, an account that is no organisation, or more than 50 members: 409.',
  )
  @ApiAnswer(201, 'Added.', MemberView)
  @ApiProblems(409)
  async add(
    @PathId('id', 'user') id: string,
    @Body() { user_id: userId, role }: NewMemberDto,
    @CurrentActor() actor: Actor,
  ): Promise<MemberView> {
    return MemberView.of(await this.members.add(id, userId, role, actor));
  }

  @Patch(':user_id')
  @AdminWrite(
    'changeMember',
    'Change the role of a member',
    'It applies to the next request of the member. The owner itself: 409.',
  )
  @ApiAnswer(200, 'Changed.', MemberView)
  @ApiProblems(409)
  async change(
    @PathId('id', 'user') id: string,
    @PathId('user_id', 'user') userId: string,
    @Body() { role }: MemberRoleDto,
    @CurrentActor() actor: Actor,
  ): Promise<MemberView> {
    return MemberView.of(await this.members.changeRole(id, userId, role, actor));
  }

  @Delete(':user_id')
  @AdminWrite(
    'removeMember',
    'Remove a member',
    'Also ends the member’s sessions in the portals of the organisation. The owner itself: 409.',
  )
  @ApiNoContent('Removed.')
  @ApiProblems(409)
  remove(
    @PathId('id', 'user') id: string,
    @PathId('user_id', 'user') userId: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.members.remove(id, userId, actor);
  }
}

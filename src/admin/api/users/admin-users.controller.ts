import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../../../audit/audit.service.js';
import {
  ApiAnswer,
  ApiId,
  ApiNoContent,
  ApiPage,
  ApiProblems,
  NOT_CACHED,
} from '../../../http/api/api-answers.js';
import { LinkView } from '../../../http/api/link.view.js';
import { listAnswer, type ListAnswer } from '../../../http/api/list-answer.js';
import { pageRequestOf } from '../../../http/api/page-query.js';
import { CurrentActor, CurrentPrincipal } from '../../../tokens/access/current-principal.decorator.js';
import type { Principal } from '../../../tokens/access/principal.js';
import { GrantsService } from '../../../tokens/grants/grants.service.js';
import { SecondFactorService } from '../../../users/factors/second-factor.service.js';
import { PasswordsAllowedGuard } from '../../../users/passwords/passwords-allowed.guard.js';
import { UsersService } from '../../../users/accounts/users.service.js';
import { AccountDeletions } from '../../../users/leaving/account-deletions.service.js';
import { FourEyes } from '../../approvals/four-eyes.service.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { NewUserDto, toNewUser, toUserChanges, UserChangesDto, UsersQuery } from './admin-users.dto.js';
import { ApiWaiting, waiting, type ApprovalView } from '../approvals/admin-approvals.view.js';
import { UserDetailsView, userDetailsView, UserView } from './admin-users.view.js';
import { RevokedView } from '../revoked.view.js';

/** Users in the admin API (contract §12). */
@Controller('admin/users')
@AdminApi()
export class AdminUsersController {
  constructor(
    private readonly users: UsersService,
    private readonly fourEyes: FourEyes,
    private readonly grants: GrantsService,
    private readonly factors: SecondFactorService,
    private readonly deletions: AccountDeletions,
  ) {}

  /** Creates a user: 201 and the user with its `id`; an email that is taken: 409. */
  @Post()
  @AdminWrite('createUser', 'Create a user', 'An email address that is taken: 409.', 'support')
  @ApiAnswer(201, 'The user.', UserView)
  @ApiProblems(409)
  async create(@Body() body: NewUserDto, @CurrentActor() actor: Actor): Promise<UserView> {
    return UserView.of(await this.fourEyes.createUser(toNewUser(body), actor));
  }

  /** The users by id, paged; `q` searches. */
  @Get()
  @AdminRead(
    'listAdminUsers',
    'Users by id',
    'Sorted by id; `q` searches. Live ones, unless `environment` says otherwise.',
  )
  @ApiPage(UserView)
  async list(@Query() query: UsersQuery): Promise<ListAnswer<UserView>> {
    const { q, operator_role: operatorRole, environment } = query;
    const filter = { q, operatorRole, environment };
    return listAnswer(await this.users.list(filter, pageRequestOf(query)), UserView.of);
  }

  /** One user, or 404. */
  @Get(':id')
  @AdminRead('getAdminUser', 'Get a user', 'Never with a password.')
  @ApiId('id', 'user')
  @ApiAnswer(200, 'The user.', UserDetailsView)
  @ApiProblems(404)
  async get(@Param('id') id: string): Promise<UserDetailsView> {
    const user = await this.users.get(id);
    return userDetailsView(user, await this.factors.stateOf(id), await this.deletions.find(id));
  }

  /**
   * Changes the given members. Disabling, a new password and a new email end what depends on the user (contract §4); an email
   * that is taken: 409.
   */
  @Patch(':id')
  @AdminWrite(
    'updateUser',
    'Update a user',
    'Omitted members stay unchanged. Disabling, a new password and a new email address end what depends on the user.',
    'support',
  )
  @ApiId('id', 'user')
  @ApiAnswer(200, 'The user.', UserView)
  @ApiWaiting()
  @ApiProblems(404, 409)
  async update(
    @Param('id') id: string,
    @Body() body: UserChangesDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserView | ApprovalView> {
    const outcome = await this.fourEyes.updateUser(id, toUserChanges(body), actor);
    return outcome.waiting ? waiting(reply, outcome.waiting) : UserView.of(outcome.done);
  }

  /** Erases the user: 204; an owner of clients: 409. */
  @Delete(':id')
  @AdminWrite(
    'eraseUser',
    'Erase a user: account, consents, grants, notifications',
    'The owner of a client cannot be erased: 409.',
  )
  @ApiId('id', 'user')
  @ApiNoContent('Erased.')
  @ApiWaiting()
  @ApiProblems(404, 409)
  @HttpCode(204)
  async erase(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalView | void> {
    const outcome = await this.fourEyes.eraseUser(id, actor);
    if (outcome.waiting) return waiting(reply, outcome.waiting);
  }

  /** Creates a link to set a password, which works once within 24 hours: 201 `{"url"}`, shown only this once. */
  @Post(':id/password_links')
  @UseGuards(PasswordsAllowedGuard)
  @AdminWrite(
    'createPasswordLink',
    'Create a link to set a password, which works once within 24 hours',
    'The link is shown only once.',
    'support',
  )
  @ApiId('id', 'user')
  @ApiAnswer(201, 'The link.', LinkView, NOT_CACHED)
  @ApiWaiting()
  @ApiProblems(404, 409)
  @Header('cache-control', 'no-store')
  async createPasswordLink(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LinkView | ApprovalView> {
    const outcome = await this.fourEyes.createPasswordLink(id, actor);
    return outcome.waiting ? waiting(reply, outcome.waiting) : { url: outcome.done! };
  }

  /** Ends every grant of the user, with its tokens: `{"revoked": n}`, the number of grants. */
  @Post(':id/revoke_tokens')
  @AdminWrite(
    'revokeUserTokens',
    'Revoke every grant of a user',
    'Also ends the tokens of these grants; the consents are kept.',
    'support',
  )
  @ApiId('id', 'user')
  @ApiAnswer(200, 'Done.', RevokedView)
  @ApiProblems(404)
  @HttpCode(200)
  async revokeTokens(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<RevokedView> {
    return { revoked: await this.grants.revokeForUser(id, actor) };
  }

  /** Removes passkeys, authenticator app and recovery codes of someone else, and ends the sessions: 204. */
  @Delete(':id/second_factor')
  @AdminWrite(
    'resetSecondFactor',
    'Remove the passkeys, the authenticator app and the recovery codes of a user',
    'Also ends the sessions of the user, who is told. Nobody resets their own, nor that of the owner of their client: 409.',
    'support',
  )
  @ApiId('id', 'user')
  @ApiNoContent('Reset.')
  @ApiWaiting()
  @ApiProblems(404, 409)
  @HttpCode(204)
  async resetSecondFactor(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @CurrentPrincipal() { client }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalView | void> {
    const outcome = await this.fourEyes.resetSecondFactor(id, client.ownerId, actor);
    if (outcome.waiting) return waiting(reply, outcome.waiting);
  }
}

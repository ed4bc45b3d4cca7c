import { Body, Controller, Delete, Get, Patch, Post, Query, UseGuards } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import {
  ApiAnswer,
  ApiNoContent,
  ApiPage,
  ApiProblems,
  NOT_CACHED,
  PathId,
} from '#platform/http/api/api-answers.js';
import { LinkView } from '#platform/http/api/api-schemas.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { CurrentActor, CurrentPrincipal } from '#access/tokens/access/current-principal.decorator.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { PasswordsAllowedGuard } from '#access/users/passwords/passwords-allowed.guard.js';
import { USER } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { AccountDeletionsService } from '#access/users/closing/account-deletions.service.js';
import { AdminActions, type Outcome } from '../../actions/admin-actions.service.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import {
  NewUserDto,
  UserChangesDto,
  UsersQuery,
  UserDetailsView,
  userDetailsView,
  UserView,
  userView,
} from './admin-users.dto.js';
import { MayWait, outcomeAs } from '../../actions/may-wait.js';
import { RevokedView } from '../access.view.js';

/** Users in the admin API (contract §12). */
@Controller('admin/users')
@AdminApi()
export class AdminUsersController {
  constructor(
    private readonly users: UsersService,
    private readonly actions: AdminActions,
    private readonly grants: GrantsService,
    private readonly factors: SecondFactorService,
    private readonly deletions: AccountDeletionsService,
  ) {}

  @Post()
  @AdminWrite('createUser', 'Create a user', 'An email address that is taken: 409.', 'support')
  @ApiAnswer(201, 'The user.', UserView)
  @ApiProblems(409)
  async create(@Body() body: NewUserDto, @CurrentActor() actor: Actor): Promise<UserView> {
    return userView(await this.actions.createUser(USER.newOf(body), actor));
  }

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
    return listAnswer(await this.users.list(filter, pageRequestOf(query)), userView);
  }

  @Get(':id')
  @AdminRead('getAdminUser', 'Get a user', 'Never with a password.')
  @ApiAnswer(200, 'The user.', UserDetailsView)
  async get(@PathId('id', 'user') id: string): Promise<UserDetailsView> {
    const user = await this.users.get(id);
    return userDetailsView(user, await this.factors.stateOf(id), await this.deletions.find(id));
  }

  @Patch(':id')
  @AdminWrite(
    'updateUser',
    'Update a user',
    'Omitted members stay unchanged. Disabling, a new password and a new email address end what depends on the user.',
    'support',
  )
  @ApiAnswer(200, 'The user.', UserView)
  @MayWait()
  @ApiProblems(409)
  async update(
    @PathId('id', 'user') id: string,
    @Body() body: UserChangesDto,
    @CurrentActor() actor: Actor,
  ): Promise<Outcome<UserView>> {
    return outcomeAs(await this.actions.run('user.update', id, USER.changesOf(body), actor), userView);
  }

  @Delete(':id')
  @AdminWrite(
    'eraseUser',
    'Erase a user: account, consents, grants, notifications',
    'The owner of a client cannot be erased: 409.',
  )
  @ApiNoContent('Erased.')
  @MayWait()
  @ApiProblems(409)
  erase(@PathId('id', 'user') id: string, @CurrentActor() actor: Actor): Promise<Outcome> {
    return this.actions.run('user.erase', id, {}, actor);
  }

  @Post(':id/password_links')
  @UseGuards(PasswordsAllowedGuard)
  @AdminWrite(
    'createPasswordLink',
    'Create a link to set a password, which works once within 24 hours',
    'The link is shown only once.',
    'support',
  )
  @ApiAnswer(201, 'The link.', LinkView, NOT_CACHED)
  @MayWait()
  @ApiProblems(409)
  async createPasswordLink(
    @PathId('id', 'user') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<Outcome<LinkView>> {
    return outcomeAs(await this.actions.run('user.create_password_link', id, {}, actor), (url) => ({
      url: url!,
    }));
  }

  @Post(':id/revoke_tokens')
  @AdminWrite(
    'revokeUserTokens',
    'Revoke every grant of a user',
    'Also ends the tokens of these grants; the consents are kept.',
    'support',
  )
  @ApiAnswer(200, 'Done.', RevokedView)
  async revokeTokens(@PathId('id', 'user') id: string, @CurrentActor() actor: Actor): Promise<RevokedView> {
    return { revoked: await this.grants.revokeForUser(id, actor) };
  }

  @Delete(':id/second_factor')
  @AdminWrite(
    'resetSecondFactor',
    'Remove the passkeys, the authenticator app and the recovery codes of a user',
    'Also ends the sessions of the user, who is told. Nobody resets their own, nor that of the owner of their client: 409.',
    'support',
  )
  @ApiNoContent('Reset.')
  @MayWait()
  @ApiProblems(409)
  resetSecondFactor(
    @PathId('id', 'user') id: string,
    @CurrentActor() actor: Actor,
    @CurrentPrincipal() { client }: Principal,
  ): Promise<Outcome> {
    return this.actions.run('user.reset_second_factor', id, { own: client.ownerId }, actor);
  }
}

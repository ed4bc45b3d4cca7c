import { Controller, Delete, Get, HttpCode, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../../../audit/audit.service.js';
import { ApiAnswer, ApiId, ApiNoContent, ApiProblems } from '../../../http/api/api-answers.js';
import { IdentitiesService } from '../../../identity-providers/identities.service.js';
import { CurrentActor } from '../../../tokens/access/current-principal.decorator.js';
import { UsersService } from '../../../users/accounts/users.service.js';
import { FourEyes } from '../../approvals/four-eyes.service.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { ApiWaiting, waiting, type ApprovalView } from '../approvals/admin-approvals.view.js';
import { IdentityView } from './admin-identities.view.js';

/** The links of users to identity providers, in the admin API (contract §15). */
@Controller('admin/users/:id/identities')
@AdminApi()
export class AdminIdentitiesController {
  constructor(
    private readonly users: UsersService,
    private readonly identities: IdentitiesService,
    private readonly fourEyes: FourEyes,
  ) {}

  /** The links of a user, oldest first: at most one for each provider. */
  @Get()
  @AdminRead(
    'listIdentities',
    'A user’s links to identity providers',
    'Oldest first; at most one for each provider.',
  )
  @ApiId('id', 'user')
  @ApiAnswer(200, 'The links.', [IdentityView])
  @ApiProblems(404)
  async list(@Param('id') id: string): Promise<IdentityView[]> {
    const user = await this.users.get(id);
    return (await this.identities.list(user.id)).map(IdentityView.of);
  }

  /** Removes a link and ends the sessions that came from it: 204; without such a link: 404. */
  @Delete(':provider')
  @AdminWrite(
    'removeIdentity',
    'Remove a user’s link to an identity provider',
    'Also ends the sessions that came from it. The next login through the provider may link the account again.',
  )
  @ApiId('id', 'user')
  @ApiNoContent('Removed.')
  @ApiWaiting()
  @ApiProblems(404, 409)
  @HttpCode(204)
  async remove(
    @Param('id') id: string,
    @Param('provider') provider: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalView | void> {
    const outcome = await this.fourEyes.removeIdentity(id, provider, actor);
    if (outcome.waiting) return waiting(reply, outcome.waiting);
  }
}

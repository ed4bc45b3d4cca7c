import { Param } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { IdentitiesService } from '#access/identity-providers/identities.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { AdminActions } from '../../actions/admin-actions.service.js';
import { waitingFor } from '../console-context.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { removeIdentityPage, userIdentitiesPage } from './user-identities.pages.js';
import { userPath } from './user-layout.js';

/** The links of a user to identity providers, and removing them. */
@ConsolePages('users/:id/identities')
export class ConsoleUserIdentitiesController {
  constructor(
    private readonly users: UsersService,
    private readonly identities: IdentitiesService,
    private readonly actions: AdminActions,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    return { page: userIdentitiesPage({ user, identities: await this.identities.list(id) }) };
  }

  @ConsoleGet(':provider/remove', 'asked')
  async askToRemove(@Param('id') id: string, @Param('provider') provider: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    return { page: removeIdentityPage({ user, identity: await this.identities.get(id, provider) }) };
  }

  /** Removes the link and ends the sessions that came from it. */
  @ConsolePost(':provider/remove', 'asked')
  async remove(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
    @Param('provider') provider: string,
  ): Promise<ConsoleAnswer> {
    const outcome = await this.actions.run('user.remove_identity', id, { provider }, context.actor);
    if (outcome.waiting) return waitingFor(outcome.waiting);
    return { goTo: userPath(id, 'identities'), notice: 'identity_removed' };
  }
}

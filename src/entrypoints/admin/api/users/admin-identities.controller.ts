import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiAnswer, ApiNoContent, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { IdentitiesService } from '#access/identity-providers/identities.service.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { Identity } from '#access/identity-providers/identity.entity.js';
import { AdminActions, type Outcome } from '../../actions/admin-actions.service.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { MayWait } from '../../actions/may-wait.js';

/** A link of a user to an identity provider, on the wire. */
@ApiSchema({ name: 'Identity' })
class IdentityView extends viewOf<Identity>()({
  provider: text('The provider’s id in the settings.', { example: 'company' }),
  issuer: text(undefined, { example: 'https://login.company.example' }),
  subject: text('The person’s id there.', { example: '248289761001' }),
  linked_at: time(),
  last_used_at: time(),
}) {}

/** The links of users to identity providers, in the admin API (contract §15). */
@Controller('admin/users/:id/identities')
@AdminApi()
export class AdminIdentitiesController {
  constructor(
    private readonly users: UsersService,
    private readonly identities: IdentitiesService,
    private readonly actions: AdminActions,
  ) {}

  @Get()
  @AdminRead(
    'listIdentities',
    'A user’s links to identity providers',
    'Oldest first; at most one for each provider.',
  )
  @ApiAnswer(200, 'The links.', [IdentityView])
  async list(@PathId('id', 'user') id: string): Promise<IdentityView[]> {
    const user = await this.users.get(id);
    return (await this.identities.list(user.id)).map(IdentityView.of);
  }

  @Delete(':provider')
  @AdminWrite(
    'removeIdentity',
    'Remove a user’s link to an identity provider',
    'Also ends the sessions that came from it. The next login through the provider may link the account again.',
  )
  @ApiNoContent('Removed.')
  @MayWait()
  @ApiProblems(409)
  remove(
    @PathId('id', 'user') id: string,
    @Param('provider') provider: string,
    @CurrentActor() actor: Actor,
  ): Promise<Outcome> {
    return this.actions.run('user.remove_identity', id, { provider }, actor);
  }
}

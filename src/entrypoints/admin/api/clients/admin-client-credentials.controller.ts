import { Body, Controller, Post, UseGuards } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { DEFAULT_SECRET_OVERLAP_SECONDS } from '#access/clients/client-rules.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { ApiAnswer, ApiProblems, NOT_CACHED, PathId } from '#platform/http/api/api-answers.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { AdminActions, type Outcome } from '../../actions/admin-actions.service.js';
import { AdminApi, AdminWrite } from '../admin-api.decorator.js';
import { MayWait, outcomeAs } from '../../actions/may-wait.js';
import { NewSecretDto, NewSecretView } from './admin-clients.dto.js';
import { EmptyBodyGuard } from '#platform/http/api/empty-body.guard.js';
import { RevokedView } from '../access.view.js';

/** A client's secrets and tokens in the admin API (contract §12). */
@Controller('admin/clients/:client_id')
@AdminApi()
export class AdminClientCredentialsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly actions: AdminActions,
  ) {}

  @Post('secrets')
  @AdminWrite(
    'rotateClientSecret',
    'Create a new secret',
    'The secret is shown only once. Previous ones expire after at most `expire_previous_in` seconds. A public client has none: 409.',
  )
  @ApiBody({ type: NewSecretDto, required: false })
  @ApiAnswer(201, 'The secret, only this once.', NewSecretView, NOT_CACHED)
  @MayWait()
  @ApiProblems(409)
  @UseGuards(EmptyBodyGuard)
  async rotateSecret(
    @PathId('client_id', 'clnt') id: string,
    @Body() body: NewSecretDto,
    @CurrentActor() actor: Actor,
  ): Promise<Outcome<NewSecretView>> {
    const expirePreviousIn = body.expire_previous_in ?? DEFAULT_SECRET_OVERLAP_SECONDS;
    return outcomeAs(
      await this.actions.run('client.rotate_secret', id, { expirePreviousIn }, actor),
      (done) => ({
        client_secret: done!.secret,
        previous_secret_expires_at: done!.previousSecretExpiresAt?.toISOString() ?? null,
      }),
    );
  }

  @Post('revoke_tokens')
  @AdminWrite(
    'revokeClientTokens',
    'Revoke every grant and token of a client, and end its portal links and sessions',
    'The consents are kept.',
    'support',
  )
  @ApiAnswer(200, 'Done.', RevokedView)
  async revokeTokens(
    @PathId('client_id', 'clnt') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<RevokedView> {
    return { revoked: await this.clients.revokeTokens(id, actor) };
  }
}

import { Body, Controller, Header, HttpCode, Param, Post, Res, UseGuards } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../../../audit/audit.service.js';
import { DEFAULT_SECRET_OVERLAP_SECONDS } from '../../../clients/client-rules.js';
import { ClientsService } from '../../../clients/clients.service.js';
import { ApiAnswer, ApiId, ApiProblems, NOT_CACHED } from '../../../http/api/api-answers.js';
import { CurrentActor } from '../../../tokens/access/current-principal.decorator.js';
import { FourEyes } from '../../approvals/four-eyes.service.js';
import { AdminApi, AdminWrite } from '../admin-api.decorator.js';
import { ApiWaiting, waiting, type ApprovalView } from '../approvals/admin-approvals.view.js';
import { NewSecretDto } from './admin-clients.dto.js';
import { NewSecretView } from './admin-clients.view.js';
import { EmptyBodyGuard } from '../../../http/api/empty-body.guard.js';
import { RevokedView } from '../revoked.view.js';

/** A client's secrets and tokens in the admin API (contract §12). */
@Controller('admin/clients/:client_id')
@AdminApi()
export class AdminClientCredentialsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly fourEyes: FourEyes,
  ) {}

  /**
   * Creates a secret: 201 with `client_secret`, only this once, and `previous_secret_expires_at`. Previous ones expire after at
   * most `expire_previous_in` seconds. A public client gets a 409.
   */
  @Post('secrets')
  @AdminWrite(
    'rotateClientSecret',
    'Create a new secret',
    'The secret is shown only once. Previous ones expire after at most `expire_previous_in` seconds. A public client has none: 409.',
  )
  @ApiId('client_id', 'clnt')
  @ApiBody({ type: NewSecretDto, required: false })
  @ApiAnswer(201, 'The secret, only this once.', NewSecretView, NOT_CACHED)
  @ApiWaiting()
  @ApiProblems(404, 409)
  @UseGuards(EmptyBodyGuard)
  @Header('cache-control', 'no-store')
  async rotateSecret(
    @Param('client_id') id: string,
    @Body() body: NewSecretDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NewSecretView | ApprovalView> {
    const expirePreviousIn = body.expire_previous_in ?? DEFAULT_SECRET_OVERLAP_SECONDS;
    const outcome = await this.fourEyes.rotateSecret(id, expirePreviousIn, actor);
    if (outcome.waiting) return waiting(reply, outcome.waiting);
    const { secret, previousSecretExpiresAt } = outcome.done!;
    return {
      client_secret: secret,
      previous_secret_expires_at: previousSecretExpiresAt?.toISOString() ?? null,
    };
  }

  /** Ends every grant and token of the client: `{"revoked": n}`, the number of grants. */
  @Post('revoke_tokens')
  @AdminWrite(
    'revokeClientTokens',
    'Revoke every grant and token of a client, and end its portal links and sessions',
    'The consents are kept.',
    'support',
  )
  @ApiId('client_id', 'clnt')
  @ApiAnswer(200, 'Done.', RevokedView)
  @ApiProblems(404)
  @HttpCode(200)
  async revokeTokens(@Param('client_id') id: string, @CurrentActor() actor: Actor): Promise<RevokedView> {
    return { revoked: await this.clients.revokeTokens(id, actor) };
  }
}

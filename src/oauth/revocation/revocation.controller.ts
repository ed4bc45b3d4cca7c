import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientEntity } from '../../clients/client.entity.js';
import { originOf } from '../../http/actor.js';
import type { Form } from '../../http/form.js';
import { TokenRevocationService } from '../../tokens/token-revocation.service.js';
import { AuthenticatedClient, ClientAuthenticationGuard } from '../clients/client-authentication.guard.js';
import { OAuthEndpoint, OAuthForm } from '../oauth-endpoint.js';
import { invalidRequest, NO_STORE } from '../oauth-error.js';

/** Token revocation (RFC 7009, contract §5). */
@Controller('o/revoke_token')
export class RevocationController {
  constructor(private readonly revocation: TokenRevocationService) {}

  /** 200 and an empty body for a known, an unknown and an already revoked token alike. */
  @Post()
  @HttpCode(200)
  @OAuthEndpoint(ClientAuthenticationGuard, { needsTrailingSlash: true })
  async revoke(
    @OAuthForm() form: Form,
    @AuthenticatedClient() client: ClientEntity,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const token = form.get('token');
    if (token === undefined) throw invalidRequest('The parameter token is required.');
    await this.revocation.revoke(token, client.id, { type: 'client', id: client.id, ...originOf(request) });
    // A much used client refuses an answer without a JSON content type.
    await reply.headers(NO_STORE).type('application/json; charset=utf-8').send('');
  }
}

import { Controller, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { formOf } from '#platform/http/forms/form.js';
import { originOf } from '#platform/http/server/request-origin.js';
import { KEYS_AGAIN_AFTER_MS, ProviderClients } from '../protocol/provider-clients.service.js';
import { REFUSAL_STATUS, SignInRefused } from '../refusals.js';
import { BackchannelLogout } from './backchannel-logout.service.js';

interface Refusal {
  error: 'invalid_request' | 'temporarily_unavailable';
  error_description: string;
}

/** Called by identity providers when someone logs out there (contract §15). */
@Controller('login/backchannel_logout')
@ApiExcludeController()
@UseGuards(AddressRateLimitGuard)
export class BackchannelLogoutController {
  constructor(
    private readonly providerClients: ProviderClients,
    private readonly logout: BackchannelLogout,
  ) {}

  @Post(':id')
  @RouteConfig({ takesForm: true })
  @HttpCode(200)
  async receive(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Refusal | undefined> {
    const provider = this.providerClients.get(id);
    void reply.header('cache-control', 'no-store');
    const form = formOf(request);
    const token = form.isRepeated('logout_token') ? undefined : form.get('logout_token');
    if (!token) return this.refuse(reply, 400, 'A form with one logout_token is required.');
    try {
      await this.logout.logOut(provider, token, { type: 'service', id: null, ...originOf(request) });
      return undefined;
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      return this.refuse(reply, REFUSAL_STATUS[error.reason], 'The logout token is not valid.');
    }
  }

  private refuse(reply: FastifyReply, status: number, description: string): Refusal {
    void reply.status(status);
    if (status !== 503) return { error: 'invalid_request', error_description: description };
    void reply.header('retry-after', KEYS_AGAIN_AFTER_MS / 1000);
    return { error: 'temporarily_unavailable', error_description: 'The provider’s keys cannot be read now.' };
  }
}

import { Controller, Param, Post, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type Form, FormBody } from '#platform/http/forms/form.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { PageRoute } from '#platform/http/page-routes/send-page.js';
import { ProviderClients } from '../protocol/provider-clients.service.js';
import { PostedNames } from './posted-names.service.js';

const PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description'];

/**
 * The redirect URI of a provider with `response_mode: form_post`, such as Apple (contract §15). A form that another site posts comes without
 * the browser's cookies, so the answer goes on to the address that reads the same values from its query, with them.
 */
@Controller('login/callback')
@ApiExcludeController()
@UseGuards(AddressRateLimitGuard)
export class PostedCallbackController {
  constructor(
    private readonly providerClients: ProviderClients,
    private readonly names: PostedNames,
  ) {}

  @Post(':id')
  @PageRoute()
  goOn(@Param('id') id: string, @FormBody() form: Form, @Res() reply: FastifyReply): void {
    const provider = this.providerClients.get(id);
    const query = new URLSearchParams([
      ...PARAMETERS.flatMap((name) => form.getAll(name).map((value) => [name, value])),
      ...this.names.parameterFor(provider, form),
    ]);
    void reply
      .header('cache-control', 'no-store')
      .redirect(`/login/callback/${provider.id}?${query.toString()}`, 303);
  }
}

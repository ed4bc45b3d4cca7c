import { say } from '#platform/language/text.js';
import { Param, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { queryStringOf } from '#platform/http/forms/form.js';
import { AFTER_LOGIN, safeReturnTo, withReturnTo } from '#platform/http/forms/return-to.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { OpenGet, OpenPages, OpenPost, ShowsAgain } from '#platform/http/page-routes/open-pages.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { methodNotAllowed } from '#platform/http/problems/problem.js';
import { refusalPage } from '../pages/refusal.page.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { ProviderClients } from '../protocol/provider-clients.service.js';
import type { SignInRefused } from '../refusals.js';
import { ProviderSignIns } from './provider-sign-ins.service.js';

/** Logging in through an identity provider (contract §15): the redirect to the provider, and the callback. */
@OpenPages('login')
@UseGuards(AddressRateLimitGuard)
export class ProviderSignInController {
  constructor(
    private readonly providerClients: ProviderClients,
    private readonly signIns: ProviderSignIns,
    private readonly sessions: SessionsService,
  ) {}

  /** Starts a login and redirects to the provider. A form that is out of date leads to the login page, which has it. */
  @OpenPost('providers/:id', ShowsAgain())
  async begin(
    @Param('id') id: string,
    @Context() context: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const provider = this.providerClients.get(id);
    const { formOutOfDate } = context;
    const returnTo = safeReturnTo((formOutOfDate ?? context.form).get('return_to'));
    if (formOutOfDate) return { goTo: withReturnTo('/login', returnTo) };
    const begun = await this.signIns.begin(provider, { returnTo }, request, reply);
    if ('leaveTo' in begun) return begun;
    return this.refusal(begun.refused, provider, returnTo, request);
  }

  /** The redirect URI: finishes the login, once. */
  @OpenGet('callback/:id')
  async finish(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const provider = this.providerClients.get(id);
    // A HEAD request would use up the login without showing the result.
    if (request.method === 'HEAD') {
      throw methodNotAllowed(say('Open this address in a browser.'), { headers: { allow: 'GET, POST' } });
    }
    const outcome = await this.signIns.finish(provider, queryStringOf(request.url), request, reply);
    const returnTo = safeReturnTo(outcome.returnTo);
    if (!outcome.refused) return { goTo: returnTo ?? AFTER_LOGIN };
    return this.refusal(outcome.refused, provider, returnTo, request);
  }

  private async refusal(
    { reason }: SignInRefused,
    { label }: IdentityProvider,
    returnTo: string | undefined,
    request: FastifyRequest,
  ): Promise<OpenAnswer> {
    const isLoggedIn = (await this.sessions.current(request)) !== undefined;
    return refusalPage(reason, { label, returnTo, requestId: request.id, isLoggedIn });
  }
}

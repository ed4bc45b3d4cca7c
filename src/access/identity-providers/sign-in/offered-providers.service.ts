import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { buildEndSessionUrl } from 'openid-client';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { Settings } from '#platform/config/settings.js';
import type { WayOut } from '#platform/http/page-routes/page-answer.js';
import type { OpenAnswer } from '#platform/http/page-routes/open-pages.js';
import type { SignInMethod } from '#access/users/sessions/session.entity.js';
import { SealedIdTokens } from '../logout/sealed-id-tokens.service.js';
import { refusalPage } from '../pages/refusal.page.js';
import type { ProviderName } from '../pages/provider-buttons.js';
import { ProviderClients } from '../protocol/provider-clients.service.js';
import { ProviderSignIns } from './provider-sign-ins.service.js';
import { SignInCookies } from './sign-in-cookies.service.js';
import { say } from '#platform/language/text.js';

/** The providers on the login page, the redirect to the only one, and logging out at a provider. */
@Injectable()
export class OfferedProviders {
  private readonly logger = new Logger(OfferedProviders.name);

  constructor(
    private readonly providerClients: ProviderClients,
    private readonly signIns: ProviderSignIns,
    private readonly cookies: SignInCookies,
    private readonly idTokens: SealedIdTokens,
    private readonly settings: Settings,
  ) {}

  get all(): readonly ProviderName[] {
    return this.providerClients.providers;
  }

  /** The provider that is the only way to log in, if there is one. */
  private get onlyOne(): IdentityProvider | undefined {
    const [only, ...others] = this.providerClients.providers;
    return this.settings.passwordSignIn || others.length > 0 ? undefined : only;
  }

  /**
   * Redirects to the provider if it is the only way to log in, unless the user has just logged out or failed. Otherwise
   * undefined: the login page is shown.
   */
  async redirectToSoleProvider(
    returnTo: string | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<OpenAnswer | undefined> {
    const only = this.onlyOne;
    if (!only || this.cookies.hasJustEnded(request) || request.method === 'HEAD') return undefined;
    const begun = await this.signIns.begin(only, { returnTo }, request, reply);
    if ('leaveTo' in begun) return begun;
    return refusalPage(begun.refused.reason, { label: only.label, returnTo, requestId: request.id });
  }

  /** Where a user was going who logged out at a provider, and came back from it. */
  returnAfterLogout(request: FastifyRequest): string | undefined {
    return this.cookies.returnTo(request);
  }

  /**
   * Records that the user has logged out. For a session that came from a provider, returns the redirect that logs out there too;
   * otherwise undefined. The provider leads back to the login page, which then knows `returnTo`.
   */
  async logoutOf(
    signIn: SignInMethod | undefined,
    returnTo: string | undefined,
    reply: FastifyReply,
  ): Promise<WayOut | undefined> {
    // For any kind of session, because the user may still be logged in at the provider.
    if (this.onlyOne) this.cookies.noteEnd(reply);
    if (signIn?.method !== 'provider') return undefined;
    const provider = this.providerClients.find(signIn.provider);
    if (!provider) return undefined;
    try {
      const { config, metadata } = await this.providerClients.of(provider);
      if (metadata.end_session_endpoint === undefined) return undefined;
      this.cookies.noteEnd(reply, returnTo);
      const loginPage = `${this.settings.baseUrl}/login`;
      const { logoutRedirectParameter } = provider;
      const { sealedIdToken: sealed } = signIn;
      const hint = logoutRedirectParameter || !sealed ? undefined : this.idTokens.open(signIn, sealed);
      const url = buildEndSessionUrl(config, {
        [logoutRedirectParameter ?? 'post_logout_redirect_uri']: loginPage,
        ...(hint === undefined ? {} : { id_token_hint: hint }),
      });
      return {
        leaveTo: url.href,
        name: provider.label,
        heading: say('You are logged out'),
      };
    } catch (error) {
      // The local session has ended in any case.
      this.logger.warn(`Logout at ${provider.id} is not possible: ${(error as Error).message}`);
      return undefined;
    }
  }
}

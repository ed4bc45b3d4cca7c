import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { Settings } from '#platform/config/settings.js';
import type { WayOut } from '#platform/http/page-routes/page-answer.js';
import { say, type TextValues } from '#platform/language/text.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { IdentitiesService } from '../identities.service.js';
import { ProviderClients } from '../protocol/provider-clients.service.js';
import { RoleProviders } from './role-providers.service.js';
import { ProviderSignIns } from './provider-sign-ins.service.js';

/** The provider where a user authenticates again instead of entering the password. */
export interface ReAuthenticationPlace {
  /** The display name of the provider; undefined if the user has none. */
  label: string | undefined;
  /** Whether a passkey is not enough, because the provider decides the role. */
  isOnlyWay: boolean;
}

/**
 * Sends a user to the provider where the password would otherwise be asked for (contract §15): users who came from a provider or
 * have no password, operators whose role a provider decides, and everyone if passwords are switched off.
 */
@Injectable()
export class ReAuthentication {
  constructor(
    private readonly providerClients: ProviderClients,
    private readonly identities: IdentitiesService,
    private readonly signIns: ProviderSignIns,
    private readonly roleProviders: RoleProviders,
    private readonly settings: Settings,
  ) {}

  /** Whether this user confirms with the password. */
  async isByPassword(user: SignedInUser): Promise<boolean> {
    const { method, hasPassword } = user;
    if (method === 'provider' || !hasPassword || !this.settings.passwordSignIn) return false;
    return (await this.roleProviders.requiredFor(user)) === undefined;
  }

  async placeOf(user: SignedInUser): Promise<ReAuthenticationPlace> {
    const provider = await this.providerOf(user);
    const isOnlyWay = (await this.roleProviders.requiredFor(user)) !== undefined;
    return { label: provider?.label, isOnlyWay };
  }

  /**
   * The redirect to the provider, which leads back to `returnTo` with a new session id; or a message with the reason why that is
   * not possible.
   */
  async begin(
    user: SignedInUser,
    returnTo: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<WayOut | { error: string; values?: TextValues }> {
    const provider = await this.providerOf(user);
    if (!provider)
      return { error: say('There is no provider that you could go to. Log out and log in again.') };
    const begun = await this.signIns.begin(provider, { returnTo, again: user }, request, reply);
    if ('leaveTo' in begun) return begun;
    return {
      error: say('{provider} cannot be reached at the moment. Try again in a few minutes.'),
      values: { provider: provider.label },
    };
  }

  /**
   * The provider that decides the role, or that of the session; for a session that came from none, one that the account is linked to and
   * that does not refuse accounts of its kind.
   */
  private async providerOf(user: SignedInUser): Promise<IdentityProvider | undefined> {
    const { id, operatorRole, method, provider } = user;
    const deciding = await this.roleProviders.requiredFor(user);
    if (deciding) return deciding;
    if (method === 'provider') return this.providerClients.find(provider ?? '');
    const kind = operatorRole === null ? 'users' : 'operators';
    const entries = (await this.identities.list(id)).flatMap((link) => this.providerClients.ofLink(link));
    return entries.find(({ audience }) => audience.includes(kind));
  }
}

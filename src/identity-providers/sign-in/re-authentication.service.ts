import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdentityProvider } from '../../config/identity-providers.js';
import { Settings } from '../../config/settings.js';
import type { WayOut } from '../../http/page-routes/page-answer.js';
import type { SignedInUser } from '../../users/sessions/signed-in-user.js';
import { IdentitiesService } from '../identities.service.js';
import { ProviderClients } from '../protocol/provider-clients.service.js';
import { ProviderSignIns } from './provider-sign-ins.service.js';

/**
 * Sends a user to the provider again where the password would otherwise be asked for (contract §15): whoever came from one or has no
 * password, and everybody where passwords are switched off.
 */
@Injectable()
export class ReAuthentication {
  constructor(
    private readonly clients: ProviderClients,
    private readonly identities: IdentitiesService,
    private readonly signIns: ProviderSignIns,
    private readonly settings: Settings,
  ) {}

  /** Whether this user enters the password again. */
  isByPassword({ method, hasPassword }: SignedInUser): boolean {
    return method !== 'provider' && hasPassword && this.settings.passwordSignIn;
  }

  /** What people call the provider at which a user authenticates again; undefined if there is none that the user could go to. */
  async labelFor(user: SignedInUser): Promise<string | undefined> {
    return (await this.providerOf(user))?.label;
  }

  /** The way to the provider, from which the browser comes back to `returnTo` with a new session id. Or why that is not possible. */
  async begin(
    user: SignedInUser,
    returnTo: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<WayOut | { error: string }> {
    const provider = await this.providerOf(user);
    if (!provider) return { error: 'There is no provider that you could go to. Log out and log in again.' };
    const begun = await this.signIns.begin(provider, { returnTo, again: user }, request, reply);
    if ('leaveTo' in begun) return begun;
    return { error: `${provider.label} cannot be reached at the moment. Try again in a few minutes.` };
  }

  /** The provider of the session; for a session that came from none, one that the account is linked to. */
  private async providerOf({ id, method, provider }: SignedInUser): Promise<IdentityProvider | undefined> {
    if (method === 'provider') return this.clients.find(provider ?? '');
    const linked = await this.identities.list(id);
    return linked.map((identity) => this.clients.find(identity.provider)).find((found) => found);
  }
}

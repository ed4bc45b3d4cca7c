import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdentityProvider } from '../../config/identity-providers.js';
import type { SignedInUser } from '../../users/sessions/signed-in-user.js';
import { ProviderClients } from '../protocol/provider-clients.service.js';
import { ProviderSignIns } from './provider-sign-ins.service.js';

/** Sends a user whose session came from a provider there again, where the password would otherwise be asked for (contract §15). */
@Injectable()
export class ReAuthentication {
  constructor(
    private readonly clients: ProviderClients,
    private readonly signIns: ProviderSignIns,
  ) {}

  /** What the page says of the user's provider, and where its form leads. */
  describe(user: SignedInUser): { label: string; formTargets: string[] } {
    const provider = this.providerOf(user);
    if (!provider) return { label: user.provider ?? '', formTargets: [] };
    return { label: provider.label, formTargets: this.clients.formTargets(provider) };
  }

  /** The address to redirect the browser to; it comes back to `returnTo` with a new session id. Or why that is not possible. */
  async begin(
    user: SignedInUser,
    returnTo: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<{ goTo: string } | { error: string }> {
    const provider = this.providerOf(user);
    if (!provider) return { error: 'Logging in there is no longer possible. Log out and log in again.' };
    const begun = await this.signIns.begin(provider, { returnTo, again: user }, request, reply);
    if ('goTo' in begun) return begun;
    return { error: `${provider.label} cannot be reached at the moment. Try again in a few minutes.` };
  }

  private providerOf({ provider }: SignedInUser): IdentityProvider | undefined {
    return provider === null ? undefined : this.clients.find(provider);
  }
}

import { Injectable } from '@nestjs/common';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { IdentitiesService } from '../identities.service.js';
import { ProviderClients } from '../protocol/provider-clients.service.js';

/**
 * Providers whose claim gives operators their role (`roleClaim`). Only a session from such a provider proves that the person
 * still has the role there; with a password or passkey, a withdrawn role would be kept.
 */
@Injectable()
export class RoleProviders {
  constructor(
    private readonly providerClients: ProviderClients,
    private readonly identities: IdentitiesService,
  ) {}

  /** The provider that this operator has to come from before the console opens; undefined for a session that may open it. */
  async requiredFor({
    id,
    operatorRole,
    method,
    provider,
  }: SignedInUser): Promise<IdentityProvider | undefined> {
    const deciding = this.providerClients.providers.filter(({ roleClaim }) => roleClaim !== undefined);
    if (operatorRole === null || deciding.length === 0) return undefined;
    if (method === 'provider' && deciding.some((each) => each.id === provider)) return undefined;
    const links = await this.identities.list(id);
    return deciding.find((each) => links.some((link) => this.providerClients.isOf(each, link)));
  }
}

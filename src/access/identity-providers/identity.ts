import type { IdentityEntity } from './identity.entity.js';

/** A link of an account to an identity provider, as pages and the API show it. */
export type Identity = Pick<IdentityEntity, 'provider' | 'issuer' | 'subject' | 'linkedAt' | 'lastUsedAt'> & {
  /** The display name of the provider; its id if it is no longer in the settings. */
  label: string;
};

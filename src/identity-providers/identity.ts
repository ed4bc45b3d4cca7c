import type { IdentityEntity } from './identity.entity.js';

/** A link of an account to an identity provider, as people and programs see it. */
export type Identity = Pick<IdentityEntity, 'provider' | 'issuer' | 'subject' | 'linkedAt' | 'lastUsedAt'> & {
  /** What people call the provider; its id if it is not in the settings any more. */
  label: string;
};

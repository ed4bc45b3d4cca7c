import type { Environment } from '#access/users/accounts/environment.js';

/** A client of an organisation, as its members see it. */
export interface MemberClient {
  id: string;
  name: string;
  environment: Environment;
  redirectUris: string[];
  organisationId: string;
  organisationName: string;
}

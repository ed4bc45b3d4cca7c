import { SCOPES } from '../../migrations/scopes.js';

type Scope = (typeof SCOPES)[number];

const described = (scopes: Scope[]) =>
  Object.fromEntries(scopes.map(([name, , description]) => [name, description]));

/** The flows of the `oauth2` security scheme (contract §3, §4). */
export const oauth2Flows = (baseUrl: string) => ({
  authorizationCode: {
    authorizationUrl: `${baseUrl}/o/authorize/`,
    tokenUrl: `${baseUrl}/o/token`,
    refreshUrl: `${baseUrl}/o/token`,
    scopes: described(SCOPES.filter(([, audience]) => audience === 'partner')),
  },
  clientCredentials: {
    tokenUrl: `${baseUrl}/o/token`,
    scopes: described(SCOPES),
  },
});

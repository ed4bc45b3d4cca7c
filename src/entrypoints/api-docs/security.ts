import { SCOPES } from '../../../migrations/scopes.js';

type Scope = (typeof SCOPES)[number];

const described = (scopes: Scope[]) =>
  Object.fromEntries(scopes.map(([name, , description]) => [name, description]));

const OF_PARTNERS = described(SCOPES.filter(([, audience]) => audience === 'partner'));
const OF_OPERATORS = described(SCOPES.filter(([, audience]) => audience === 'operator'));

/** The flows of the `oauth2` security scheme (contract §3, §4); operator scopes are for client credentials only. */
export const oauth2Flows = (baseUrl: string, audience: 'partners' | 'operators') => {
  const tokenUrl = `${baseUrl}/o/token`;
  if (audience === 'operators') return { clientCredentials: { tokenUrl, scopes: OF_OPERATORS } };
  return {
    authorizationCode: {
      authorizationUrl: `${baseUrl}/o/authorize/`,
      tokenUrl,
      refreshUrl: tokenUrl,
      scopes: OF_PARTNERS,
    },
    clientCredentials: { tokenUrl, scopes: OF_PARTNERS },
  };
};

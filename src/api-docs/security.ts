import type { PARTNER_SCOPES } from '../scopes/scope.entity.js';

/** The scopes of the first catalogue (contract §2), with what each allows. */
const ALLOWED_TO_PARTNERS: Record<(typeof PARTNER_SCOPES)[number], string> = {
  'charging_session:read':
    'See your charging sessions: when and where your car charged, and how much energy it took',
  'vehicle:read': 'See your vehicles: make, model, battery level and whether they are plugged in',
};
const OPERATOR_SCOPES = {
  'admin:read': 'Read everything in the admin API',
  'admin:write': 'Change everything in the admin API',
  'event:publish': 'Publish events about users',
  'token:introspect': 'Look at the tokens of other clients',
};

/** The flows of the `oauth2` security scheme (contract §3, §4). */
export const oauth2Flows = (baseUrl: string) => ({
  authorizationCode: {
    authorizationUrl: `${baseUrl}/o/authorize/`,
    tokenUrl: `${baseUrl}/o/token`,
    refreshUrl: `${baseUrl}/o/token`,
    scopes: { ...ALLOWED_TO_PARTNERS },
  },
  clientCredentials: {
    tokenUrl: `${baseUrl}/o/token`,
    scopes: { ...ALLOWED_TO_PARTNERS, ...OPERATOR_SCOPES },
  },
});

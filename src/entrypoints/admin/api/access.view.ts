import { idOf, scopeNames } from '#platform/http/api/api-schemas.js';

/** What consents and grants share on the wire: which client may do what for which user. */
export const ACCESS = { client_id: idOf('clnt'), user_id: idOf('user'), scopes: scopeNames() };

// Conditions in SQL on the consent (`n`) of a user (`u`) to a client.

/** Whether the consent is live: neither revoked nor expired. */
export const consentIsLive = (consent: string) =>
  `${consent}.revoked_at IS NULL AND (${consent}.expires_at IS NULL OR ${consent}.expires_at > now())`;

/** Whether the consent is live and includes the scope. */
export const consentIncludes = (scope: string) => `${consentIsLive('n')} AND ${scope} = ANY (n.scopes)`;

/** Whether it has included the scope since a time. */
export const consentIncludedSince = (scope: string, time: string) =>
  `coalesce(n.scopes_granted_at[array_position(n.scopes, ${scope})], n.granted_at) <= ${time}`;

/** Whether the user, who is enabled, shares with the client what the scope covers. */
export const userShares = (client: string, user: string, scope: string, more = 'true') =>
  `EXISTS (SELECT 1 FROM consents n JOIN users u ON u.id = n.user_id AND u.enabled
            WHERE n.client_id = ${client} AND n.user_id = ${user} AND ${consentIncludes(scope)} AND ${more})`;

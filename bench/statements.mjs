/** The floor's SQL statements; pgbench sends the same ones. */
export const STATEMENTS = {
  client: `SELECT c.scopes, s.digest FROM clients c JOIN client_secrets s ON s.client_id = c.id
            WHERE c.id = $1 AND c.enabled AND (s.expires_at IS NULL OR s.expires_at > now())`,
  insertClientToken: `INSERT INTO access_tokens (digest, client_id, scopes, expires_at)
                      VALUES ($1, $2, $3, now() + interval '10 hours')`,
  /** The token and its grant; the consent, client and user, which the service checks too, are left out. */
  token: `SELECT t.client_id, t.scopes, t.created_at, t.expires_at, g.user_id
            FROM access_tokens t LEFT JOIN grants g ON g.id = t.grant_id
           WHERE t.digest = $1 AND t.revoked_at IS NULL AND t.expires_at > now() AND g.revoked_at IS NULL`,
  user: `SELECT u.id, u.email, u.name, k.scopes, k.granted_at FROM consents k JOIN users u ON u.id = k.user_id
          WHERE k.client_id = $1 AND k.user_id = $2 AND k.revoked_at IS NULL`,
  /** One more than a page, to see whether there is another page. */
  users: `SELECT u.id, k.scopes, k.granted_at FROM consents k JOIN users u ON u.id = k.user_id
           WHERE k.client_id = $1 AND k.revoked_at IS NULL ORDER BY k.user_id LIMIT 26`,
  refreshToken: `SELECT r.grant_id, g.scopes FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id
                  WHERE r.digest = $1 AND g.client_id = $2 AND r.retired_at IS NULL AND r.expires_at > now()
                    AND g.revoked_at IS NULL FOR UPDATE OF r`,
  retire: `UPDATE refresh_tokens SET retired_at = now(), successor_digest = $2 WHERE digest = $1`,
  insertRefreshToken: `INSERT INTO refresh_tokens (digest, grant_id, expires_at)
                       VALUES ($1, $2, now() + interval '30 days')`,
  insertGrantToken: `INSERT INTO access_tokens (digest, client_id, grant_id, scopes, expires_at)
                     VALUES ($1, $2, $3, $4, now() + interval '10 hours')`,
  code: `SELECT user_id, redirect_uri, scopes, code_challenge FROM authorization_codes
          WHERE digest = $1 AND client_id = $2 AND consumed_at IS NULL AND expires_at > now() FOR UPDATE`,
  insertGrant: `INSERT INTO grants (id, client_id, user_id, scopes, expires_at)
                VALUES ($1, $2, $3, $4, now() + interval '365 days')`,
  consume: `UPDATE authorization_codes SET consumed_at = now(), grant_id = $2 WHERE digest = $1`,
  insertLink: `INSERT INTO portal_links (digest, client_id, expires_at) VALUES ($1, $2, now() + interval '5 minutes')`,
};

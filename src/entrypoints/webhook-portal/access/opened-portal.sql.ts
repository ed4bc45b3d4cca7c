// SQL shared by the repositories of links and of their sessions, which depend on the same things.
import { Raw } from 'typeorm';
import { consentIsLive } from '#access/consents/consent.sql.js';
import { HAS_OPERATOR_SCOPE } from '#access/clients/operator-role.sql.js';

/** Whether the client (`c`) has a portal: partners see nothing of a client with scopes for operators (contract §17). */
export const HAS_PORTAL = `c.enabled AND NOT ${HAS_OPERATOR_SCOPE}`;

/** Joins the owner of the client, who is enabled and may have webhooks. */
export const JOIN_OWNER = 'JOIN users o ON o.id = c.owner_id AND o.enabled AND o.webhooks_enabled';

/** Selects an `OpenedPortal` of a link or session (`p`) with its client (`c`) and owner (`o`). */
export const OPENED_PORTAL_COLUMNS = `c.id AS "clientId", c.name AS "clientName", c.logo_id AS "clientLogoId", c.environment, o.id AS "ownerId", o.name AS "ownerName", c.scopes,
  p.expires_at AS "expiresAt", extract(epoch FROM p.expires_at - now())::int AS "secondsLeft"`;

/**
 * What links and sessions (`p`) depend on: the client and its owner, enabled and with webhooks allowed; and if the owner's token
 * requested the link, its grant and consent. In SQL, because redeeming a link is one statement with the same condition.
 */
export const JOIN_DEPENDENCIES = `
  JOIN clients c ON c.id = p.client_id AND ${HAS_PORTAL}
  ${JOIN_OWNER}
  LEFT JOIN grants g ON g.id = p.grant_id
  LEFT JOIN consents k ON k.client_id = g.client_id AND k.user_id = g.user_id`;
export const IS_LIVE = `p.expires_at > now()
  AND (p.grant_id IS NULL OR (g.revoked_at IS NULL AND g.expires_at > now() AND ${consentIsLive('k')}))`;

/** Of one client, or of all clients of an owner. */
export type PortalsOf = { clientId: string } | { ownerId: string };

/** Their links or sessions. */
export const belongingTo = (of: PortalsOf) => ({
  clientId:
    'clientId' in of
      ? of.clientId
      : Raw((column) => `${column} IN (SELECT id FROM clients WHERE owner_id = :ownerId)`, {
          ownerId: of.ownerId,
        }),
});

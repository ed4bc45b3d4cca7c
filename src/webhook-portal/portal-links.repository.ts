import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** Whose portal a link or a session opens. */
export interface PortalOwner {
  clientId: string;
  clientName: string;
  ownerName: string;
  /** Of the client. */
  scopes: string[];
  expiresAt: Date;
  /** By the database's clock. */
  secondsLeft: number;
}

/**
 * What links and sessions rest on, with `p` as one of them: the client and its owner, enabled and with permission for
 * webhooks; and where the owner's token asked for the link, that grant and its consent.
 */
const LIVE = `
  JOIN clients c ON c.id = p.client_id AND c.enabled
  JOIN users o ON o.id = c.owner_id AND o.enabled AND o.webhooks_enabled
  LEFT JOIN grants g ON g.id = p.grant_id
  LEFT JOIN consents k ON k.client_id = g.client_id AND k.user_id = g.user_id`;
const IS_LIVE = `p.expires_at > now()
  AND (p.grant_id IS NULL OR (g.revoked_at IS NULL AND g.expires_at > now() AND k.revoked_at IS NULL))`;

@Injectable()
export class PortalLinksRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Stores a link while its client and owner may have one; false where they no longer may. */
  async insertLink(digest: Buffer, clientId: string, grantId: string | null, ttl: number): Promise<boolean> {
    const rows: unknown[] = await this.dataSource.query(
      `WITH holder AS (
         SELECT c.id FROM clients c JOIN users o ON o.id = c.owner_id
          WHERE c.id = $2 AND c.enabled AND o.enabled AND o.webhooks_enabled FOR SHARE OF c, o
       )
       INSERT INTO portal_links (digest, client_id, grant_id, expires_at)
       SELECT $1, id, $3, now() + make_interval(secs => $4) FROM holder RETURNING 1`,
      [digest, clientId, grantId, ttl],
    );
    return rows.length === 1;
  }

  /** Whose portal an unredeemed link opens. */
  async findLink(digest: Buffer): Promise<PortalOwner | undefined> {
    const [row] = await this.dataSource.query(
      `SELECT c.id AS "clientId", c.name AS "clientName", o.name AS "ownerName", c.scopes, p.expires_at AS "expiresAt",
              extract(epoch FROM p.expires_at - now())::int AS "secondsLeft"
         FROM portal_links p ${LIVE} WHERE p.digest = $1 AND p.redeemed_at IS NULL AND ${IS_LIVE}`,
      [digest],
    );
    return row;
  }

  /**
   * Redeems the link and starts the session: one statement, so that of simultaneous presses one opens the portal. The
   * client's id; undefined where the link is used, expired, or what it rests on ended.
   */
  async redeem(
    manager: EntityManager,
    digest: Buffer,
    sessionDigest: Buffer,
    ttl: number,
  ): Promise<string | undefined> {
    const rows: { client_id: string }[] = await manager.query(
      `WITH holder AS (
         SELECT p.digest, p.client_id, p.grant_id FROM portal_links p ${LIVE}
          WHERE p.digest = $1 AND p.redeemed_at IS NULL AND ${IS_LIVE} FOR SHARE OF c, o
       ), redeemed AS (
         UPDATE portal_links l SET redeemed_at = now() FROM holder
          WHERE l.digest = holder.digest AND l.redeemed_at IS NULL
          RETURNING holder.client_id, holder.grant_id
       )
       INSERT INTO portal_sessions (digest, client_id, grant_id, expires_at)
       SELECT $2, client_id, grant_id, now() + make_interval(secs => $3) FROM redeemed RETURNING client_id`,
      [digest, sessionDigest, ttl],
    );
    return rows[0]?.client_id;
  }

  async findSession(digest: Buffer): Promise<PortalOwner | undefined> {
    const [row] = await this.dataSource.query(
      `SELECT c.id AS "clientId", c.name AS "clientName", o.name AS "ownerName", c.scopes, p.expires_at AS "expiresAt",
              extract(epoch FROM p.expires_at - now())::int AS "secondsLeft"
         FROM portal_sessions p ${LIVE} WHERE p.digest = $1 AND ${IS_LIVE}`,
      [digest],
    );
    return row;
  }

  async deleteSession(digest: Buffer, manager: EntityManager = this.dataSource.manager): Promise<void> {
    await manager.query('DELETE FROM portal_sessions WHERE digest = $1', [digest]);
  }

  /** Ends the links and sessions of a client, or of every client of an owner at once. */
  async deleteAll(
    manager: EntityManager,
    selection: { clientId: string } | { ownerId: string },
  ): Promise<void> {
    const byClient = 'clientId' in selection;
    const clients = byClient ? '$1' : 'SELECT id FROM clients WHERE owner_id = $1';
    const params = [byClient ? selection.clientId : selection.ownerId];
    await manager.query(`DELETE FROM portal_links WHERE client_id IN (${clients})`, params);
    await manager.query(`DELETE FROM portal_sessions WHERE client_id IN (${clients})`, params);
  }

  /** Ends the unredeemed links of a client; whoever is inside the portal stays there. */
  async deleteUnredeemed(manager: EntityManager, clientId: string): Promise<void> {
    await manager.query('DELETE FROM portal_links WHERE client_id = $1 AND redeemed_at IS NULL', [clientId]);
  }
}

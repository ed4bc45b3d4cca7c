import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { PortalsOf } from '../users/access-revocations.js';

/** The portal that a link or a session opens. */
export interface PortalOwner {
  clientId: string;
  clientName: string;
  ownerName: string;
  /** The client's scopes. */
  scopes: string[];
  expiresAt: Date;
  /** By the database's clock. */
  secondsLeft: number;
}

/** The part of a token that the requested link depends on. */
export interface LinkHolder {
  client: { id: string };
  grantId?: string;
  epoch?: number;
}

/**
 * What links and sessions (`p`) depend on: the client and its owner, enabled and with webhooks allowed; and if the owner's token
 * requested the link, its grant and consent.
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

  /**
   * Stores a link if the token that requests it is valid and its client and owner may have one. One statement, which waits for a
   * concurrent end of any of them. False if the token has ended; undefined if they may have no link.
   */
  async insertLink(
    digest: Buffer,
    { client, grantId, epoch }: LinkHolder,
    ttl: number,
  ): Promise<boolean | undefined> {
    const [holder]: { live: boolean }[] = await this.dataSource.query(
      `WITH holder AS (
         SELECT c.id, ($5::int IS NULL OR c.token_epoch = $5)
                  AND ($3::text IS NULL OR EXISTS (SELECT FROM grants g WHERE g.id = $3 AND g.revoked_at IS NULL)) AS live
           FROM clients c JOIN users o ON o.id = c.owner_id
          WHERE c.id = $2 AND c.enabled AND o.enabled AND o.webhooks_enabled FOR SHARE OF c, o
       ), stored AS (
         INSERT INTO portal_links (digest, client_id, grant_id, expires_at)
         SELECT $1, id, $3, now() + make_interval(secs => $4) FROM holder WHERE live
       )
       SELECT live FROM holder`,
      [digest, client.id, grantId ?? null, ttl, epoch ?? null],
    );
    return holder?.live;
  }

  /** The portal that an unredeemed link opens. */
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
   * Redeems the link and starts the session. One statement, so that only one of several concurrent requests opens the portal.
   * Returns the client's id; undefined if the link is used or expired, or something it depends on ended.
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

  /** Ends the links and sessions of a client, or of all clients of an owner. */
  async deleteAll(manager: EntityManager, of: PortalsOf): Promise<void> {
    const byClient = 'clientId' in of;
    const clients = byClient ? '$1' : 'SELECT id FROM clients WHERE owner_id = $1';
    const params = [byClient ? of.clientId : of.ownerId];
    await manager.query(`DELETE FROM portal_links WHERE client_id IN (${clients})`, params);
    await manager.query(`DELETE FROM portal_sessions WHERE client_id IN (${clients})`, params);
  }
}

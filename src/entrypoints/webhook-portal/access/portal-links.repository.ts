import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository, Column, Entity } from 'typeorm';
import { Statements } from '#platform/database/queries/statements.js';
import type { OpenedPortal } from './portal-visitor.js';
import {
  belongingTo,
  HAS_PORTAL,
  IS_LIVE,
  JOIN_DEPENDENCIES,
  JOIN_OWNER,
  OPENED_PORTAL_COLUMNS,
  type PortalsOf,
} from './opened-portal.sql.js';
import { TextOrNull, TimeOrNull, IssuedSecret } from '#platform/database/entities/columns.js';

/** A one-time link to the webhook portal; only the digest of its key is stored. */
@Entity('portal_links')
export class PortalLinkEntity extends IssuedSecret {
  @Column('text') clientId!: string;
  /** The grant of the owner's token that created it; null for a client-credentials token. */
  @TextOrNull() grantId!: string | null;
  @TimeOrNull() redeemedAt!: Date | null;
}

/** The part of the requesting token that the link depends on. */
export interface LinkHolder {
  client: { id: string };
  grantId?: string;
  epoch?: number;
}

/** The one-time links, and redeeming them. */
@Injectable()
export class PortalLinksRepository {
  constructor(
    @InjectRepository(PortalLinkEntity) private readonly links: Repository<PortalLinkEntity>,
    private readonly statements: Statements,
  ) {}

  /**
   * Stores a link if the token that requests it is valid and its client and owner may have one. One statement, which waits if one
   * of them is being ended at this moment; in SQL, because it locks and writes. False if the token has ended; undefined if the
   * client or its owner may have no link.
   */
  async insertLink(
    digest: Buffer,
    { client, grantId, epoch }: LinkHolder,
    ttl: number,
  ): Promise<boolean | undefined> {
    const [holder] = await this.statements.run<{ live: boolean }>(
      'portal link',
      `WITH holder AS (
         SELECT c.id, ($5::int IS NULL OR c.token_epoch = $5)
                  AND ($3::text IS NULL OR EXISTS (SELECT FROM grants g WHERE g.id = $3 AND g.revoked_at IS NULL)) AS live
           FROM clients c ${JOIN_OWNER}
          WHERE c.id = $2 AND ${HAS_PORTAL} FOR SHARE OF c, o
       ), stored AS (
         INSERT INTO portal_links (digest, client_id, grant_id, expires_at)
         SELECT $1, id, $3, now() + make_interval(secs => $4) FROM holder WHERE live
       )
       SELECT live FROM holder`,
      [digest, client.id, grantId ?? null, ttl, epoch ?? null],
    );
    return holder?.live;
  }

  /** The portal that an unredeemed link opens. In SQL: one join over several modules' tables. */
  async find(digest: Buffer): Promise<OpenedPortal | undefined> {
    const [row]: OpenedPortal[] = await this.links.query(
      `SELECT ${OPENED_PORTAL_COLUMNS} FROM portal_links p ${JOIN_DEPENDENCIES}
        WHERE p.digest = $1 AND p.redeemed_at IS NULL AND ${IS_LIVE}`,
      [digest],
    );
    return row;
  }

  /**
   * Redeems the link and starts the session. One statement, so that only one of several concurrent requests opens the portal, and
   * in SQL, because it writes both tables. Returns the client's id; undefined if the link is used or expired, or something it
   * depends on ended.
   */
  async redeem(digest: Buffer, sessionDigest: Buffer, ttl: number): Promise<string | undefined> {
    const rows: { client_id: string }[] = await this.links.manager.query(
      `WITH holder AS (
         SELECT p.digest, p.client_id, p.grant_id FROM portal_links p ${JOIN_DEPENDENCIES}
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

  /** Ends the links of a client, or of all clients of an owner. */
  async deleteAll(of: PortalsOf): Promise<void> {
    await this.links.delete(belongingTo(of));
  }
}

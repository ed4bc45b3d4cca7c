import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { readPage, type Page, type PageRequest, countUpTo } from '#platform/database/queries/read-page.js';
import type { RevocationReason } from '#access/domain/domain-events.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import { GrantEntity } from './grant.entity.js';
import type { Grant, GrantInList } from './grant.js';

/** Selects grants to revoke; all given members must match. */
interface GrantSelection {
  id?: string;
  clientId?: string;
  userId?: string;
}

// A statement that takes longer than ten seconds is cancelled; these take less than one.
const REVOKED_AT_ONCE = 10_000;

/** What lists show of a grant. */
const LISTED = [
  ...['id', 'clientId', 'userId', 'scopes', 'createdAt', 'expiresAt'].map((column) => `grant.${column}`),
  ...['client.id', 'client.name', 'user.id', 'user.name', 'user.role'],
];

@Injectable()
export class GrantsRepository {
  constructor(@InjectRepository(GrantEntity) private readonly grants: Repository<GrantEntity>) {}

  /** One page of the active grants by id: not revoked, and with a refresh or access token that is still valid. */
  async listLive(
    { clientId, userId }: { clientId?: string; userId?: string },
    page: PageRequest,
  ): Promise<Page<GrantInList>> {
    const query = this.grants
      .createQueryBuilder('grant')
      .innerJoin('grant.client', 'client')
      .innerJoin('grant.user', 'user')
      .select(LISTED)
      .where('grant.revokedAt IS NULL AND grant.expiresAt > now()')
      .andWhere('(grant.refreshExpiresAt > now() OR grant.accessExpiresAt > now())');
    if (clientId !== undefined) query.andWhere('grant.clientId = :clientId', { clientId });
    if (userId !== undefined) query.andWhere('grant.userId = :userId', { userId });
    const found = await readPage(page, 'grant.id', 'asc', query);
    return {
      ...found,
      items: found.items.map(({ client, user, ...grant }) => ({
        ...grant,
        clientName: client.name,
        userName: user.name,
        userRole: user.role,
      })),
    };
  }

  find(id: string): Promise<GrantEntity | null> {
    return this.grants.findOneBy({ id });
  }

  /** What is stored of the user's grants, including ended ones, newest first, up to a limit. */
  listOf(userId: string, limit: number): Promise<GrantEntity[]> {
    return this.grants.find({ where: { userId }, order: { id: 'DESC' }, take: limit });
  }

  /** The number of active grants of the client or the user, counted up to a limit. */
  countLive(filter: { clientId: string } | { userId: string }, limit: number): Promise<number> {
    const query = this.grants
      .createQueryBuilder('grant')
      .where(filter)
      .andWhere('grant.revokedAt IS NULL AND grant.expiresAt > now()');
    return countUpTo(limit, query);
  }

  /** Locks the user until the transaction ends, so that nothing new is issued until then; false if not found. */
  async lockUser(userId: string): Promise<boolean> {
    const user = await this.grants.manager.findOne(UserEntity, {
      select: { id: true },
      where: { id: userId },
      lock: { mode: 'for_no_key_update' },
    });
    return user !== null;
  }

  /**
   * Revokes the selected active grants. It locks them in the order of their ids, so that two revocations of overlapping sets wait
   * for each other instead of deadlocking. The tokens of a grant depend on its row and end with it.
   * In SQL, because one statement locks in an order and then updates.
   */
  async revoke(selection: GrantSelection, reason: RevocationReason): Promise<Grant[]> {
    const params: unknown[] = [reason];
    const conditions = conditionsOf(selection, params);
    const [rows]: [Grant[], number] = await this.grants.manager.query(
      `WITH live AS (
         SELECT id FROM grants
          WHERE ${conditions} AND revoked_at IS NULL AND expires_at > now()
          ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE grants g SET revoked_at = now(), revocation_reason = $1
         FROM live WHERE g.id = live.id
       RETURNING g.id, g.client_id AS "clientId", g.user_id AS "userId", g.scopes`,
      params,
    );
    return rows;
  }

  /**
   * Revokes all active grants of a client, of which there can be very many: in as many statements as it takes, in one transaction.
   * Returns their number. It locks the grants of each user in the order of their ids, like `revoke`.
   */
  async revokeOfClient(
    clientId: string,
    reason: RevocationReason,
    atOnce = REVOKED_AT_ONCE,
  ): Promise<number> {
    let revoked = 0;
    let last = { userId: '', id: '' };
    for (;;) {
      const [batch]: { count: number; userId: string; id: string }[] = await this.grants.manager.query(
        `WITH live AS (
           SELECT id, user_id FROM grants
            WHERE client_id = $1 AND (user_id, id) > ($2, $3) AND revoked_at IS NULL AND expires_at > now()
            ORDER BY user_id, id LIMIT $4 FOR NO KEY UPDATE
         ), ended AS (
           UPDATE grants g SET revoked_at = now(), revocation_reason = $5 FROM live WHERE g.id = live.id
         )
         SELECT count(*) OVER ()::int AS count, user_id AS "userId", id FROM live ORDER BY user_id DESC, id DESC LIMIT 1`,
        [clientId, last.userId, last.id, atOnce, reason],
      );
      revoked += batch?.count ?? 0;
      if (!batch || batch.count < atOnce) return revoked;
      last = batch;
    }
  }

  /**
   * Revokes all client-credentials tokens of a client, or of every client of an owner. The epoch also passes the number of seconds since
   * 2020, so that a database restored to an earlier time never reuses an epoch of the lost one. In SQL, because the entity of a
   * client does not have its epoch.
   */
  async revokeClientTokens(selection: { clientId: string } | { ownerId: string }): Promise<void> {
    const byClient = 'clientId' in selection;
    await this.grants.manager.query(
      `UPDATE clients SET token_epoch = greatest(token_epoch + 1, extract(epoch FROM now() - timestamptz '2020-01-01Z')::int)
        WHERE ${byClient ? 'id' : 'owner_id'} = $1`,
      [byClient ? selection.clientId : selection.ownerId],
    );
  }

  /**
   * Sets when the active grants of a consent end: with the consent, but no later than their own end. A refresh token that was cut
   * short gets its full lifetime back, as far as the grant lasts. The lifetimes, in seconds, apply to rows without their own. In
   * SQL, because one statement locks in an order and then updates.
   */
  async endWith(
    { clientId, userId }: { clientId: string; userId: string },
    end: Date | null,
    { grantTtl, refreshTokenTtl }: { grantTtl: number; refreshTokenTtl: number },
  ): Promise<void> {
    await this.grants.manager.query(
      `WITH live AS (
         SELECT id, least(coalesce(own_end, created_at + make_interval(secs => $4)), coalesce($3::timestamptz, 'infinity')) AS ends
           FROM grants
          WHERE client_id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > now()
          ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE grants g
          SET expires_at = live.ends,
              refresh_expires_at = least(live.ends, CASE WHEN g.refresh_expires_at < g.expires_at THEN g.refresh_expires_at
                                                         ELSE g.issued_at + make_interval(secs => $5) END)
         FROM live WHERE g.id = live.id AND g.expires_at <> live.ends`,
      [clientId, userId, end, grantTtl, refreshTokenTtl],
    );
  }

  /**
   * Postpones the next check of up to `limit` grants whose refresh token is still in use; returns their number. In SQL, because
   * it skips locked rows.
   */
  async postponeUsed(retentionDays: number, limit: number): Promise<number> {
    const [, postponed]: [unknown[], number] = await this.grants.query(
      `UPDATE grants SET look_again_at = refresh_expires_at WHERE id = ANY (ARRAY(
         SELECT id FROM grants
          WHERE look_again_at < now() - make_interval(days => $1)
            AND refresh_expires_at >= now() - make_interval(days => $1)
          ORDER BY look_again_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED))`,
      [retentionDays],
    );
    return postponed;
  }
}

/** The conditions of a selection; its values become parameters. */
const conditionsOf = ({ id, clientId, userId }: GrantSelection, params: unknown[]): string =>
  Object.entries({ id, client_id: clientId, user_id: userId })
    .flatMap(([column, value]) => (value === undefined ? [] : [`${column} = $${params.push(value)}`]))
    .join(' AND ');

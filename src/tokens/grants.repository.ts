import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { readPageBySql, type Page, type PageRequest } from '../http/paging.js';
import type { EndingReason } from '../users/access-revocations.js';

/** What a user gave a client in one authorization: the family of tokens issued from one code. */
export interface Grant {
  id: string;
  clientId: string;
  userId: string;
  scopes: string[];
}

/** Selects grants to revoke; all given members must match. */
interface GrantSelection {
  id?: string;
  clientId?: string;
  userId?: string;
}

/** A live grant in a list, with the names of its client and user. */
export interface GrantInList extends Grant {
  createdAt: Date;
  expiresAt: Date;
  clientName: string;
  userName: string;
}

@Injectable()
export class GrantsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page of the live grants by id: not revoked, and with a refresh or access token that is still valid. */
  async listLive(
    filter: { clientId?: string; userId?: string },
    page: PageRequest,
  ): Promise<Page<GrantInList>> {
    return readPageBySql(page, 'g.id', 'asc', async (part) => {
      const params: unknown[] = [];
      const { where, orderAndLimit } = part(params);
      const client =
        filter.clientId === undefined ? 'true' : `g.client_id = $${params.push(filter.clientId)}`;
      const user = filter.userId === undefined ? 'true' : `g.user_id = $${params.push(filter.userId)}`;
      return this.dataSource.query(
        `SELECT g.id, g.client_id AS "clientId", g.user_id AS "userId", g.scopes,
                g.created_at AS "createdAt", g.expires_at AS "expiresAt", c.name AS "clientName", u.name AS "userName"
           FROM grants g JOIN clients c ON c.id = g.client_id JOIN users u ON u.id = g.user_id
          WHERE ${client} AND ${user} AND g.revoked_at IS NULL AND g.expires_at > now()
            AND (g.refresh_expires_at > now() OR g.access_expires_at > now())
            AND ${where} ${orderAndLimit}`,
        params,
      );
    });
  }

  /** The number of live grants of the client or the user, counted up to a limit. */
  async countLive(filter: { clientId: string } | { userId: string }, limit: number): Promise<number> {
    const byClient = 'clientId' in filter;
    const [row]: { count: number }[] = await this.dataSource.query(
      `SELECT count(*)::int AS count FROM (
         SELECT 1 FROM grants WHERE ${byClient ? 'client_id' : 'user_id'} = $1
            AND revoked_at IS NULL AND expires_at > now() LIMIT $2) AS live`,
      [byClient ? filter.clientId : filter.userId, limit],
    );
    return row!.count;
  }

  /**
   * Revokes the selected live grants. It locks them in the order of their ids, so that two revocations of overlapping sets wait
   * for each other instead of deadlocking. The tokens of a grant depend on its row and end with it.
   */
  async revoke(manager: EntityManager, selection: GrantSelection, reason: EndingReason): Promise<Grant[]> {
    const params: unknown[] = [reason];
    const conditions = conditionsOf(selection, params);
    const [rows]: [Grant[], number] = await manager.query(
      `WITH ending AS (
         SELECT id FROM grants
          WHERE ${conditions} AND revoked_at IS NULL AND expires_at > now()
          ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE grants g SET revoked_at = now(), revocation_reason = $1
         FROM ending WHERE g.id = ending.id
       RETURNING g.id, g.client_id AS "clientId", g.user_id AS "userId", g.scopes`,
      params,
    );
    return rows;
  }

  /** Deletes the codes that were not exchanged yet. */
  async deleteUnusedCodes(manager: EntityManager, selection: Omit<GrantSelection, 'id'>): Promise<void> {
    const params: unknown[] = [];
    const conditions = conditionsOf(selection, params);
    await manager.query(
      `DELETE FROM authorization_codes WHERE ${conditions} AND consumed_at IS NULL`,
      params,
    );
  }

  /**
   * Ends all client-credentials tokens of a client, or of every client of an owner. The epoch also passes the number of seconds since
   * 2020, so that a database restored to an earlier time never reuses an epoch of the lost one.
   */
  async endClientTokens(
    manager: EntityManager,
    selection: { clientId: string } | { ownerId: string },
  ): Promise<void> {
    const byClient = 'clientId' in selection;
    await manager.query(
      `UPDATE clients SET token_epoch = greatest(token_epoch + 1, extract(epoch FROM now() - timestamptz '2020-01-01Z')::int)
        WHERE ${byClient ? 'id' : 'owner_id'} = $1`,
      [byClient ? selection.clientId : selection.ownerId],
    );
  }
}

/** The conditions of a selection; its values become parameters. */
const conditionsOf = ({ id, clientId, userId }: GrantSelection, params: unknown[]): string =>
  Object.entries({ id, client_id: clientId, user_id: userId })
    .flatMap(([column, value]) => (value === undefined ? [] : [`${column} = $${params.push(value)}`]))
    .join(' AND ');

import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { readPage, type Page, type PageRequest } from '../http/paging.js';
import type { EndingReason } from '../users/access-endings.js';
import { GrantEntity } from './grant.entity.js';

/** Which grants end; every member given narrows. */
interface GrantSelection {
  id?: string;
  clientId?: string;
  userId?: string;
}

/** A live grant in a list, with whose it is in words. */
export interface GrantInList extends GrantEntity {
  clientName: string;
  userName: string;
}

@Injectable()
export class GrantsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page of the live grants by id: not revoked, and with a refresh or access token that still counts. */
  async listLive(
    filter: { clientId?: string; userId?: string },
    page: PageRequest,
  ): Promise<Page<GrantInList>> {
    return readPage(page, 'g.id', 'asc', async (part) => {
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
            AND (EXISTS (SELECT 1 FROM refresh_tokens r
                          WHERE r.grant_id = g.id AND r.retired_at IS NULL AND r.expires_at > now())
              OR EXISTS (SELECT 1 FROM access_tokens a
                          WHERE a.grant_id = g.id AND a.revoked_at IS NULL AND a.expires_at > now()))
            AND ${where} ${orderAndLimit}`,
        params,
      );
    });
  }

  /** How many live grants of the client or the user there are, counted up to a limit. */
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
   * Revokes the selected live grants, locking them in the order of their ids, so that two revocations of overlapping
   * sets wait for each other instead of deadlocking. The tokens of a grant rest on its row and end with it.
   */
  async revoke(
    manager: EntityManager,
    selection: GrantSelection,
    reason: EndingReason,
  ): Promise<GrantEntity[]> {
    const params: unknown[] = [reason];
    const conditions = [
      ...(selection.id === undefined ? [] : [`id = $${params.push(selection.id)}`]),
      ...(selection.clientId === undefined ? [] : [`client_id = $${params.push(selection.clientId)}`]),
      ...(selection.userId === undefined ? [] : [`user_id = $${params.push(selection.userId)}`]),
    ];
    const [rows]: [{ id: string }[], number] = await manager.query(
      `WITH ending AS (
         SELECT id FROM grants
          WHERE ${conditions.join(' AND ')} AND revoked_at IS NULL AND expires_at > now()
          ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE grants g SET revoked_at = now(), revocation_reason = $1
         FROM ending WHERE g.id = ending.id
       RETURNING g.id, g.client_id AS "clientId", g.user_id AS "userId", g.scopes`,
      params,
    );
    return rows.map((row) => manager.create(GrantEntity, row));
  }

  /** Deletes the codes that were not exchanged yet. */
  async deleteUnusedCodes(
    manager: EntityManager,
    selection: { clientId?: string; userId?: string },
  ): Promise<void> {
    const params: unknown[] = [];
    const conditions = [
      ...(selection.clientId === undefined ? [] : [`client_id = $${params.push(selection.clientId)}`]),
      ...(selection.userId === undefined ? [] : [`user_id = $${params.push(selection.userId)}`]),
    ];
    await manager.query(
      `DELETE FROM authorization_codes WHERE ${conditions.join(' AND ')} AND consumed_at IS NULL`,
      params,
    );
  }

  /** Revokes the live client-credentials tokens of a client, or of every client of an owner; how many those were. */
  async revokeClientTokens(
    manager: EntityManager,
    selection: { clientId: string } | { ownerId: string },
  ): Promise<number> {
    const byClient = 'clientId' in selection;
    const clients = byClient ? '$1' : 'SELECT id FROM clients WHERE owner_id = $1';
    const [, count]: [unknown[], number] = await manager.query(
      `UPDATE access_tokens SET revoked_at = now()
        WHERE client_id IN (${clients}) AND grant_id IS NULL AND revoked_at IS NULL AND expires_at > now()`,
      [byClient ? selection.clientId : selection.ownerId],
    );
    return count;
  }
}

import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { readPage, type Page, type PageRequest } from '../http/paging.js';

/** A client that a user shares data with, as the user sees it. */
export interface ConnectedClient {
  id: string;
  name: string;
  enabled: boolean;
  /** It may have tokens in its own name, whose use is nobody's in particular. */
  actsInOwnName: boolean;
  /** What the user agreed to, in the words of the catalogue. */
  descriptions: string[];
  connectedAt: Date;
  /** When it last got a token for this user; null where it never did, or not for long. */
  lastUsedAt: Date | null;
}

@Injectable()
export class ConnectedClientsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * One page of the clients with a live consent of the user, by client id; with `clientId`, that one alone. Every token for
   * a user comes with a refresh token, and of a grant the newest is the one that is not retired: at most one each.
   */
  async list(
    userId: string,
    clientId: string | undefined,
    page: PageRequest,
  ): Promise<Page<ConnectedClient>> {
    return readPage(page, 'k.client_id', 'asc', (part) => {
      const params: unknown[] = [userId];
      const { where, orderAndLimit } = part(params);
      const client = clientId === undefined ? 'true' : `k.client_id = $${params.push(clientId)}`;
      return this.dataSource.query(
        `SELECT c.id, c.name, c.enabled, 'client_credentials' = ANY (c.grant_types) AS "actsInOwnName",
                ARRAY(SELECT s.description FROM scopes s WHERE s.name = ANY (k.scopes) ORDER BY s.name) AS descriptions,
                k.granted_at AS "connectedAt",
                (SELECT max(r.created_at) FROM grants g
                   JOIN refresh_tokens r ON r.grant_id = g.id AND r.retired_at IS NULL
                  WHERE g.client_id = k.client_id AND g.user_id = k.user_id
                    AND g.created_at >= k.granted_at) AS "lastUsedAt"
           FROM consents k JOIN clients c ON c.id = k.client_id
          WHERE k.user_id = $1 AND k.revoked_at IS NULL AND ${client} AND ${where} ${orderAndLimit}`,
        params,
      );
    });
  }
}

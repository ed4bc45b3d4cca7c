import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { gathered } from '../database/gathered.js';
import { arrayParameter, Statements } from '../database/statements.js';
import type { BearerRefusal } from '../activity/activity.js';
import type { ClientType } from '../clients/client.entity.js';
import { digestKey } from '../secrets/tokens.js';

/** A live access token and what its rights depend on. */
export interface LiveAccessToken {
  digest: Buffer;
  clientId: string;
  clientName: string;
  clientType: ClientType;
  clientScopes: string[];
  ownerId: string;
  rateLimit: number | null;
  webhooksEnabled: boolean;
  grantId: string | null;
  userId: string | null;
  scopes: string[];
  consentScopes: string[] | null;
  createdAt: Date;
  expiresAt: Date;
  /** Until the token or its grant expires. */
  seconds: number;
}

/** A client-credentials token to store; `ttl` in seconds. */
export interface ClientToken {
  digest: Buffer;
  clientId: string;
  scopes: string[];
  ttl: number;
}

@Injectable()
export class AccessTokensRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /**
   * The token and all that it rests on, by primary keys; those who ask at the same moment share a query. Undefined where
   * the token or anything it rests on is not live.
   */
  readonly findLive = gathered<Buffer, LiveAccessToken | undefined>(async (digests) => {
    const rows = await this.statements.run<LiveAccessToken>(
      'live access tokens',
      `SELECT t.digest, t.client_id AS "clientId", c.name AS "clientName", c.type AS "clientType", c.scopes AS "clientScopes",
              c.owner_id AS "ownerId", c.rate_limit AS "rateLimit", o.webhooks_enabled AS "webhooksEnabled", t.grant_id AS "grantId",
              g.user_id AS "userId", t.scopes, k.scopes AS "consentScopes",
              t.created_at AS "createdAt", t.expires_at AS "expiresAt",
              extract(epoch FROM least(t.expires_at, g.expires_at) - now())::float8 AS "seconds"
         FROM access_tokens t
         JOIN clients c ON c.id = t.client_id AND c.enabled
         JOIN users o ON o.id = c.owner_id
         LEFT JOIN grants g ON g.id = t.grant_id AND g.revoked_at IS NULL AND g.expires_at > now()
         LEFT JOIN users u ON u.id = g.user_id AND u.enabled
         LEFT JOIN consents k ON k.client_id = g.client_id AND k.user_id = u.id AND k.revoked_at IS NULL
        WHERE t.digest = ANY (${arrayParameter(1, 'bytea')}) AND t.revoked_at IS NULL AND t.expires_at > now()
          AND CASE WHEN t.grant_id IS NULL THEN o.enabled ELSE k.user_id IS NOT NULL END`,
      [digests],
    );
    const found = new Map(rows.map((row) => [digestKey(row.digest), row]));
    return digests.map((digest) => found.get(digestKey(digest)));
  });

  /** Whose a token is that opens nothing, and the first reason for that. */
  async findRefused(digest: Buffer): Promise<{ clientId: string; reason: BearerRefusal } | undefined> {
    const [row] = await this.dataSource.query(
      `SELECT t.client_id AS "clientId",
              CASE WHEN NOT c.enabled THEN 'client_disabled'
                   WHEN t.grant_id IS NULL AND NOT o.enabled THEN 'owner_disabled'
                   WHEN NOT coalesce(u.enabled, true) THEN 'user_disabled'
                   WHEN k.revoked_at IS NOT NULL THEN 'consent_withdrawn'
                   WHEN t.revoked_at IS NOT NULL OR g.revoked_at IS NOT NULL THEN 'token_revoked'
                   WHEN t.expires_at <= now() THEN 'token_expired'
                   ELSE 'grant_expired' END AS reason
         FROM access_tokens t
         JOIN clients c ON c.id = t.client_id
         JOIN users o ON o.id = c.owner_id
         LEFT JOIN grants g ON g.id = t.grant_id
         LEFT JOIN users u ON u.id = g.user_id
         LEFT JOIN consents k ON k.client_id = g.client_id AND k.user_id = g.user_id
        WHERE t.digest = $1`,
      [digest],
    );
    return row;
  }

  /** What a user consented to share with a client at this moment; nothing without a live consent. */
  async consentedScopes(clientId: string, userId: string): Promise<string[]> {
    const [row]: { scopes: string[] }[] = await this.dataSource.query(
      'SELECT scopes FROM consents WHERE client_id = $1 AND user_id = $2 AND revoked_at IS NULL',
      [clientId, userId],
    );
    return row?.scopes ?? [];
  }

  /**
   * Stores a client-credentials token while the client and its owner are enabled; false where they no longer are. The
   * share locks make whoever disables one of them wait, and then see this token. Those who ask at the same moment share a
   * statement; a client that somebody holds is left out of it, so that the others do not wait for it.
   */
  async insertForClient(token: ClientToken): Promise<boolean> {
    return (await this.insertTogether(token)) || (await this.insert([token], 'FOR SHARE')).length === 1;
  }

  private readonly insertTogether = gathered<ClientToken, boolean>(async (tokens) => {
    const stored = await this.insert(tokens, 'FOR SHARE SKIP LOCKED');
    const digests = new Set(stored.map(({ digest }) => digestKey(digest)));
    return tokens.map(({ digest }) => digests.has(digestKey(digest)));
  });

  private insert(
    tokens: readonly ClientToken[],
    lock: 'FOR SHARE' | 'FOR SHARE SKIP LOCKED',
  ): Promise<{ digest: Buffer }[]> {
    return this.statements.run(
      `client tokens ${lock}`,
      `WITH holders AS MATERIALIZED (
         SELECT c.id FROM clients c JOIN users o ON o.id = c.owner_id
          WHERE c.id = ANY (${arrayParameter(2, 'text')}) AND c.enabled AND o.enabled ${lock}
       )
       INSERT INTO access_tokens (digest, client_id, scopes, expires_at)
       SELECT a.digest, a.client_id, string_to_array(a.scopes, ' '), now() + make_interval(secs => a.ttl)
         FROM unnest(${arrayParameter(1, 'bytea')}, ${arrayParameter(2, 'text')}, ${arrayParameter(3, 'text')}, ${arrayParameter(4, 'int')})
           AS a (digest, client_id, scopes, ttl)
         JOIN holders h ON h.id = a.client_id
       RETURNING digest`,
      [
        tokens.map(({ digest }) => digest),
        tokens.map(({ clientId }) => clientId),
        tokens.map(({ scopes }) => scopes.join(' ')),
        tokens.map(({ ttl }) => ttl),
      ],
    );
  }

  /** Revokes the client's own live token with this digest; false where there is none. */
  async revoke(digest: Buffer, clientId: string): Promise<boolean> {
    const [, count]: [unknown[], number] = await this.dataSource.query(
      `UPDATE access_tokens SET revoked_at = now()
        WHERE digest = $1 AND client_id = $2 AND revoked_at IS NULL AND expires_at > now()`,
      [digest, clientId],
    );
    return count === 1;
  }
}

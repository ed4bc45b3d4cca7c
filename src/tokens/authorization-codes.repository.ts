import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Statements } from '../database/statements.js';

/** What a code was issued for. */
export interface NewAuthorizationCode {
  digest: Buffer;
  clientId: string;
  userId: string;
  redirectUri: string;
  scopes: string[];
  codeChallenge: string | null;
  ttl: number;
}

/** A code as it stands. */
export interface FoundAuthorizationCode {
  clientId: string;
  redirectUri: string;
  codeChallenge: string | null;
  scopes: string[];
  expired: boolean;
  /** The grant that came of the code, once it was consumed. */
  grantId: string | null;
}

/** What one exchange writes. */
export interface CodeExchange {
  codeDigest: Buffer;
  grantId: string;
  accessDigest: Buffer;
  refreshDigest: Buffer;
  accessTtl: number;
  refreshTtl: number;
  grantTtl: number;
}

@Injectable()
export class AuthorizationCodesRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * Holds the client, the user and the session as live until the transaction ends; false where one of them no longer
   * is. The share locks make whoever disables or signs out wait, and then find the code that is stored meanwhile.
   */
  async hold(
    manager: EntityManager,
    clientId: string,
    userId: string,
    sessionDigest: Buffer,
  ): Promise<boolean> {
    const rows: unknown[] = await manager.query(
      `SELECT 1 FROM clients c, users u, sessions s
        WHERE c.id = $1 AND c.enabled
          AND u.id = $2 AND u.enabled AND s.digest = $3 AND s.user_id = u.id AND s.expires_at > now()
          FOR SHARE OF c, u, s`,
      [clientId, userId, sessionDigest],
    );
    return rows.length === 1;
  }

  async insert(manager: EntityManager, code: NewAuthorizationCode): Promise<void> {
    await manager.query(
      `INSERT INTO authorization_codes (digest, client_id, user_id, redirect_uri, scopes, code_challenge, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
      [code.digest, code.clientId, code.userId, code.redirectUri, code.scopes, code.codeChallenge, code.ttl],
    );
  }

  async find(digest: Buffer): Promise<FoundAuthorizationCode | undefined> {
    const [row] = await this.statements.run<FoundAuthorizationCode>(
      'authorization code',
      `SELECT client_id AS "clientId", redirect_uri AS "redirectUri", code_challenge AS "codeChallenge", scopes,
              expires_at <= now() AS expired, grant_id AS "grantId"
         FROM authorization_codes WHERE digest = $1`,
      [digest],
    );
    return row;
  }

  /**
   * Consumes the code and stores the grant with its first tokens: one statement, so all or nothing, and of simultaneous
   * exchanges one goes through. Client, user and consent are held as live until it commits. The scopes that were
   * stored; undefined where the code was consumed or expired, or what it rests on ended.
   */
  async exchange(exchange: CodeExchange): Promise<string[] | undefined> {
    const rows = await this.statements.run<{ scopes: string[] }>(
      'code exchange',
      `WITH code AS MATERIALIZED (
         SELECT client_id, user_id, scopes FROM authorization_codes WHERE digest = $1
       ), holder AS MATERIALIZED (
         SELECT code.client_id, code.user_id,
                ARRAY(SELECT s FROM unnest(code.scopes) s WHERE s = ANY (k.scopes) AND s = ANY (c.scopes)) AS scopes
           FROM code
           JOIN clients c ON c.id = code.client_id AND c.enabled
           JOIN users u ON u.id = code.user_id AND u.enabled
           JOIN consents k ON k.client_id = c.id AND k.user_id = u.id AND k.revoked_at IS NULL
            FOR SHARE OF c, u, k
       ), consumed AS (
         UPDATE authorization_codes a SET consumed_at = now(), grant_id = $2
           FROM holder
          WHERE a.digest = $1 AND a.consumed_at IS NULL AND a.expires_at > now() AND holder.scopes <> '{}'
          RETURNING holder.client_id, holder.user_id, holder.scopes
       ), given AS (
         INSERT INTO grants (id, client_id, user_id, scopes, expires_at)
         SELECT $2, client_id, user_id, scopes, now() + make_interval(secs => $7) FROM consumed
       ), refresh AS (
         INSERT INTO refresh_tokens (digest, grant_id, expires_at)
         SELECT $4, $2, now() + make_interval(secs => least($6, $7)) FROM consumed
       )
       INSERT INTO access_tokens (digest, client_id, grant_id, scopes, expires_at)
       SELECT $3, client_id, $2, scopes, now() + make_interval(secs => least($5, $7)) FROM consumed
       RETURNING scopes`,
      [
        exchange.codeDigest,
        exchange.grantId,
        exchange.accessDigest,
        exchange.refreshDigest,
        exchange.accessTtl,
        exchange.refreshTtl,
        exchange.grantTtl,
      ],
    );
    return rows[0]?.scopes;
  }
}

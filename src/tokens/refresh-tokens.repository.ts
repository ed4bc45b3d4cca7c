import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A refresh token as it stands, live or retired, and all that its use depends on. */
export interface FoundRefreshToken {
  grantId: string;
  clientId: string;
  expired: boolean;
  retired: boolean;
  /** Retired, and still within the grace time. */
  inGrace: boolean;
  sealedSuccessor: Buffer | null;
  /** The successor was used already, or its access token was revoked by itself: its owner has it, so the answer was not lost. */
  successorUsed: boolean;
  /** Seconds that its access token has left. */
  successorExpiresIn: number;
  /** Grant, consent, user and client are all live. */
  grantLive: boolean;
  grantScopes: string[];
  clientScopes: string[];
  consentScopes: string[];
}

/** What one rotation writes. */
export interface Rotation {
  retiredDigest: Buffer;
  grantId: string;
  clientId: string;
  refreshDigest: Buffer;
  accessDigest: Buffer;
  sealedSuccessor: Buffer;
  scopes: string[];
  refreshTtl: number;
  accessTtl: number;
  grace: number;
}

@Injectable()
export class RefreshTokensRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find(digest: Buffer): Promise<FoundRefreshToken | undefined> {
    const [row] = await this.dataSource.query(
      `SELECT r.grant_id AS "grantId", g.client_id AS "clientId", r.expires_at <= now() AS expired,
              r.retired_at IS NOT NULL AS retired, coalesce(r.grace_ends_at > now(), false) AS "inGrace",
              r.sealed_successor AS "sealedSuccessor",
              coalesce(n.retired_at IS NOT NULL OR a.revoked_at IS NOT NULL, true) AS "successorUsed",
              greatest(0, floor(extract(epoch FROM a.expires_at - now()))::int) AS "successorExpiresIn",
              g.revoked_at IS NULL AND g.expires_at > now() AND c.enabled AND u.enabled
                AND k.revoked_at IS NULL AS "grantLive",
              g.scopes AS "grantScopes", c.scopes AS "clientScopes", k.scopes AS "consentScopes"
         FROM refresh_tokens r
         JOIN grants g ON g.id = r.grant_id
         JOIN clients c ON c.id = g.client_id
         JOIN users u ON u.id = g.user_id
         JOIN consents k ON k.client_id = g.client_id AND k.user_id = g.user_id
         LEFT JOIN refresh_tokens n ON n.digest = r.successor_digest
         LEFT JOIN access_tokens a ON a.digest = r.successor_access_digest
        WHERE r.digest = $1`,
      [digest],
    );
    return row;
  }

  /**
   * Retires the token and stores its successor pair: one statement, so all or nothing. The grant's row is locked first:
   * of simultaneous rotations one goes through, and a revocation that committed before it leaves nothing to rotate.
   * How many seconds the new access token has; undefined where the token was retired or its grant ended meanwhile.
   */
  async rotate(rotation: Rotation): Promise<number | undefined> {
    const rows: { expiresIn: number }[] = await this.dataSource.query(
      `WITH client AS MATERIALIZED (
         SELECT id FROM clients WHERE id = $3 FOR KEY SHARE
       ), held AS MATERIALIZED (
         SELECT g.id, g.expires_at FROM client JOIN grants g ON g.client_id = client.id
          WHERE g.id = $2 AND g.revoked_at IS NULL AND g.expires_at > now() FOR NO KEY UPDATE OF g
       ), retired AS (
         UPDATE refresh_tokens r
            SET retired_at = now(), grace_ends_at = now() + make_interval(secs => $10),
                successor_digest = $4, successor_access_digest = $5, sealed_successor = $6
           FROM held
          WHERE r.digest = $1 AND r.grant_id = held.id AND r.retired_at IS NULL AND r.expires_at > now()
          RETURNING held.id AS grant_id, held.expires_at AS grant_expires_at
       ), refresh AS (
         INSERT INTO refresh_tokens (digest, grant_id, expires_at)
         SELECT $4, grant_id, least(now() + make_interval(secs => $8), grant_expires_at) FROM retired
       )
       INSERT INTO access_tokens (digest, client_id, grant_id, scopes, expires_at)
       SELECT $5, $3, grant_id, $7, least(now() + make_interval(secs => $9), grant_expires_at) FROM retired
       RETURNING floor(extract(epoch FROM expires_at - now()))::int AS "expiresIn"`,
      [
        rotation.retiredDigest,
        rotation.grantId,
        rotation.clientId,
        rotation.refreshDigest,
        rotation.accessDigest,
        rotation.sealedSuccessor,
        rotation.scopes,
        rotation.refreshTtl,
        rotation.accessTtl,
        rotation.grace,
      ],
    );
    return rows[0]?.expiresIn;
  }

  /** The grant that a refresh token of this client belongs to, whatever the token's state. */
  async grantOf(digest: Buffer, clientId: string): Promise<string | undefined> {
    const [row]: { id: string }[] = await this.dataSource.query(
      'SELECT g.id FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id WHERE r.digest = $1 AND g.client_id = $2',
      [digest, clientId],
    );
    return row?.id;
  }
}

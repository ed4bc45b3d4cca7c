import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { gathered } from '../database/gathered.js';
import { arrayParameter, Statements } from '../database/statements.js';
import { digestKey } from '../secrets/tokens.js';

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
  /** The grant that the retired token belongs to. */
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
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /** A refresh token; those who ask at the same moment share a query. */
  readonly find = gathered<Buffer, FoundRefreshToken | undefined>(async (digests) => {
    const rows = await this.statements.run<FoundRefreshToken & { digest: Buffer }>(
      'refresh tokens',
      `SELECT r.digest, r.grant_id AS "grantId", g.client_id AS "clientId", r.expires_at <= now() AS expired,
              r.retired_at IS NOT NULL AS retired, coalesce(r.grace_ends_at > now(), false) AS "inGrace",
              s.sealed AS "sealedSuccessor",
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
         LEFT JOIN sealed_successors s ON s.digest = r.digest
        WHERE r.digest = ANY (${arrayParameter(1, 'bytea')})`,
      [digests],
    );
    const found = new Map(rows.map((row) => [digestKey(row.digest), row]));
    return digests.map((digest) => found.get(digestKey(digest)));
  });

  /**
   * Retires the token and stores its successor pair: one statement, so all or nothing. The grant's row is locked first:
   * of simultaneous rotations one goes through, and a revocation that committed before it leaves nothing to rotate.
   * How many seconds the new access token has; undefined where the token was retired or its grant ended meanwhile. Those
   * who ask at the same moment share a statement, which finds each token by its digest alone: by its grant it would read all
   * that the family ever retired. A grant that somebody holds is left out, so that the others do not wait for it.
   */
  async rotate(rotation: Rotation): Promise<number | undefined> {
    return (await this.rotateTogether(rotation)) ?? (await this.rotateAll([rotation], ''))[0]?.expiresIn;
  }

  private readonly rotateTogether = gathered<Rotation, number | undefined>(async (rotations) => {
    const rows = await this.rotateAll(rotations, 'SKIP LOCKED');
    const done = new Map(rows.map(({ digest, expiresIn }) => [digestKey(digest), expiresIn]));
    return rotations.map(({ accessDigest }) => done.get(digestKey(accessDigest)));
  });

  private rotateAll(
    rotations: readonly Rotation[],
    skip: 'SKIP LOCKED' | '',
  ): Promise<{ digest: Buffer; expiresIn: number }[]> {
    const all = <K extends keyof Rotation>(member: K) => rotations.map((rotation) => rotation[member]);
    return this.statements.run(
      `rotation ${skip}`,
      `WITH asked AS MATERIALIZED (
         SELECT * FROM unnest(${arrayParameter(1, 'bytea')}, ${arrayParameter(2, 'text')}, ${arrayParameter(3, 'text')}, ${arrayParameter(4, 'bytea')},
                              ${arrayParameter(5, 'bytea')}, ${arrayParameter(6, 'bytea')}, ${arrayParameter(7, 'text')}, ${arrayParameter(8, 'int')},
                              ${arrayParameter(9, 'int')}, ${arrayParameter(10, 'int')})
           AS a (digest, grant_id, client_id, refresh_digest, access_digest, sealed_successor, scopes,
                 refresh_ttl, access_ttl, grace)
       ), client AS MATERIALIZED (
         SELECT id FROM clients WHERE id = ANY (${arrayParameter(3, 'text')}) FOR KEY SHARE ${skip}
       ), held AS MATERIALIZED (
         SELECT g.id, g.client_id, g.expires_at FROM client JOIN grants g ON g.client_id = client.id
          WHERE g.id = ANY (${arrayParameter(2, 'text')}) AND g.revoked_at IS NULL AND g.expires_at > now() FOR NO KEY UPDATE OF g ${skip}
       ), retired AS (
         UPDATE refresh_tokens r
            SET retired_at = now(), grace_ends_at = now() + make_interval(secs => a.grace),
                successor_digest = a.refresh_digest, successor_access_digest = a.access_digest
           FROM asked a JOIN held ON held.id = a.grant_id AND held.client_id = a.client_id
          WHERE r.digest = a.digest AND r.retired_at IS NULL AND r.expires_at > now()
          RETURNING a.*, r.grace_ends_at, held.expires_at AS grant_expires_at
       ), sealed AS (
         INSERT INTO sealed_successors (digest, grace_ends_at, sealed)
         SELECT digest, grace_ends_at, sealed_successor FROM retired
       ), refresh AS (
         INSERT INTO refresh_tokens (digest, grant_id, expires_at)
         SELECT refresh_digest, grant_id, least(now() + make_interval(secs => refresh_ttl), grant_expires_at)
           FROM retired
       )
       INSERT INTO access_tokens (digest, client_id, grant_id, scopes, expires_at)
       SELECT access_digest, client_id, grant_id, string_to_array(scopes, ' '),
              least(now() + make_interval(secs => access_ttl), grant_expires_at)
         FROM retired
       RETURNING digest, floor(extract(epoch FROM expires_at - now()))::int AS "expiresIn"`,
      [
        all('retiredDigest'),
        all('grantId'),
        all('clientId'),
        all('refreshDigest'),
        all('accessDigest'),
        all('sealedSuccessor'),
        all('scopes').map((scopes) => scopes.join(' ')),
        all('refreshTtl'),
        all('accessTtl'),
        all('grace'),
      ],
    );
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

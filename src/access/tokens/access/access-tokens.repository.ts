import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import type { OperatorRole } from '#platform/config/operator-role.js';
import type { BearerRefusal } from '#records/activity/activity.js';
import { HAS_OPERATOR_SCOPE, IS_BACKED, OPERATOR_ROLE } from '#access/clients/operator-role.sql.js';
import type { ClientType } from '#access/clients/client.entity.js';
import type { Environment } from '#access/users/accounts/environment.js';
import { batched } from '#platform/database/queries/batched.js';
import { arrayParameter, Statements } from '#platform/database/queries/statements.js';
import { accessTokenId, type AccessTokenRecord } from '../keys/token-record.js';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** An access token that was revoked on its own, kept until it would have expired. */
@Entity('revoked_access_tokens')
export class RevokedAccessTokenEntity {
  /** See `accessTokenId`. */
  @PrimaryColumn('text') id!: string;
  @Column('timestamptz') expiresAt!: Date;
  /** The client of the token, for the feed of changes (contract §23); null if unknown. */
  @TextOrNull() clientId!: string | null;
  @TextOrNull() userId!: string | null;
}

/** The current state of everything that a token depends on. */
export interface TokenBasis {
  clientName: string | null;
  clientType: ClientType;
  environment: Environment;
  clientScopes: string[];
  ownerId: string;
  operatorRole: OperatorRole | null;
  hasOperatorScope: boolean;
  rateLimit: number | null;
  webhooksEnabled: boolean;
  /** Scopes of the consent of the token's user; null for a token without a user. */
  consentScopes: string[] | null;
  /** When its grant or its consent ends, in milliseconds since 1970; null for a token without a user. */
  endsAt: number | null;
  /** The first reason why the token is refused; null if it is valid. */
  refusal: BearerRefusal | null;
  /** Seconds until the token, its grant or its consent expires. */
  seconds: number;
}

@Injectable()
export class AccessTokensRepository {
  constructor(
    @InjectRepository(RevokedAccessTokenEntity)
    private readonly revoked: Repository<RevokedAccessTokenEntity>,
    private readonly statements: Statements,
  ) {}

  /** Looks up by primary keys what a token depends on. Concurrent calls share one statement, batched and named. */
  readonly findBasis = batched<AccessTokenRecord, TokenBasis>(async (records) => {
    const all = (member: (record: AccessTokenRecord) => string | number | null) => records.map(member);
    const rows = await this.statements.run<TokenBasis & { n: number }>(
      'what access tokens depend on',
      `SELECT a.n::int AS n, c.name AS "clientName", c.type AS "clientType", c.environment, c.scopes AS "clientScopes",
              c.owner_id AS "ownerId", ${OPERATOR_ROLE} AS "operatorRole", ${HAS_OPERATOR_SCOPE} AS "hasOperatorScope",
              c.rate_limit AS "rateLimit", o.webhooks_enabled AS "webhooksEnabled",
              k.scopes AS "consentScopes",
              floor(extract(epoch FROM least(k.expires_at, g.expires_at)) * 1000)::float8 AS "endsAt",
              least(e.seconds, extract(epoch FROM least(k.expires_at, g.expires_at) - now())::float8) AS seconds,
              CASE WHEN s.revoked_at IS NOT NULL THEN 'token_key_revoked'
                   WHEN s.id IS NULL OR c.id IS NULL
                     -- Of a grant, or a generation of it, that is still to come: the database was set back to a time before it.
                     OR a.grant_id IS NOT NULL AND (g.id IS NULL OR a.generation > g.generation) THEN 'token_unknown'
                   WHEN NOT c.enabled THEN 'client_disabled'
                   WHEN a.grant_id IS NULL AND NOT o.enabled THEN 'owner_disabled'
                   WHEN NOT ${IS_BACKED} THEN 'owner_not_operator'
                   WHEN NOT coalesce(u.enabled, true) THEN 'user_disabled'
                   WHEN k.reason = 'expired' AND k.revoked_at IS NOT NULL OR k.revoked_at IS NULL AND k.expires_at <= now()
                     THEN 'consent_expired'
                   WHEN k.revoked_at IS NOT NULL THEN 'consent_withdrawn'
                   WHEN r.id IS NOT NULL OR g.revoked_at IS NOT NULL
                     OR a.grant_id IS NULL AND c.token_epoch <> a.epoch THEN 'token_revoked'
                   WHEN e.seconds <= 0 THEN 'token_expired'
                   WHEN g.expires_at <= now() THEN 'grant_expired' END AS refusal
         FROM unnest(${arrayParameter(1, 'text')}, ${arrayParameter(2, 'text')}, ${arrayParameter(3, 'text')}, ${arrayParameter(4, 'text')},
                     ${arrayParameter(5, 'int')}, ${arrayParameter(6, 'text')}, ${arrayParameter(7, 'int')})
              WITH ORDINALITY AS a (key_id, token_id, client_id, grant_id, epoch, expires_at, generation, n)
        CROSS JOIN LATERAL (SELECT a.expires_at::float8 / 1000 - extract(epoch FROM now())::float8 AS seconds) e
         LEFT JOIN token_keys s ON s.id = a.key_id::bigint
         LEFT JOIN revoked_access_tokens r ON r.id = a.token_id
         LEFT JOIN clients c ON c.id = a.client_id
         LEFT JOIN users o ON o.id = c.owner_id
         LEFT JOIN grants g ON g.id = a.grant_id
         LEFT JOIN users u ON u.id = g.user_id
         LEFT JOIN consents k ON k.client_id = g.client_id AND k.user_id = g.user_id`,
      [
        all(({ keyId }) => String(keyId)),
        all(accessTokenId),
        all(({ clientId }) => clientId),
        all((record) => (record.kind === 'user' ? record.grantId : null)),
        all((record) => (record.kind === 'client' ? record.epoch : null)),
        all(({ expiresAt }) => String(expiresAt)),
        all((record) => (record.kind === 'user' ? record.generation : null)),
      ],
    );
    const found = new Map(rows.map((row) => [row.n, row]));
    return records.map((_, n) => found.get(n + 1)!);
  });

  /**
   * Revokes a token until it expires; false if it has expired or is already revoked. In SQL, because the insert is guarded by a
   * condition.
   */
  async revoke(record: AccessTokenRecord): Promise<boolean> {
    const rows: unknown[] = await this.revoked.query(
      `INSERT INTO revoked_access_tokens (id, expires_at, client_id, user_id)
       SELECT $1, to_timestamp($2::float8 / 1000), $3, $4 WHERE to_timestamp($2::float8 / 1000) > now()
       ON CONFLICT (id) DO NOTHING RETURNING 1`,
      [
        accessTokenId(record),
        record.expiresAt,
        record.clientId,
        record.kind === 'user' ? record.userId : null,
      ],
    );
    return rows.length === 1;
  }
}

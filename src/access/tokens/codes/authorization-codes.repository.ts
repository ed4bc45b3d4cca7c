import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository, Column, Entity } from 'typeorm';
import { consentIsLive } from '#access/consents/consent.sql.js';
import { Statements } from '#platform/database/queries/statements.js';
import { GENERATION_COLUMNS, type GenerationRow } from '../refresh/refresh-tokens.repository.js';
import { TextOrNull, TimeOrNull, IssuedSecret } from '#platform/database/entities/columns.js';

/** A one-time authorization code; only its digest is stored. A consumed one is kept as long as its grant. */
@Entity('authorization_codes')
export class AuthorizationCodeEntity extends IssuedSecret {
  @Column('text') clientId!: string;
  @Column('text') userId!: string;
  @Column('text') redirectUri!: string;
  @Column('text', { array: true }) scopes!: string[];
  @TextOrNull() codeChallenge!: string | null;
  /** As in the grant. */
  @Column('text', { array: true, nullable: true }) resources!: string[] | null;
  @TimeOrNull() authTime!: Date | null;
  @TextOrNull() acr!: string | null;
  /** The thumbprint of the key that it is bound to (RFC 9449 §10); null for none. */
  @TextOrNull() dpopJkt!: string | null;
  @TimeOrNull() consumedAt!: Date | null;
  /** The grant created from the code, once it was consumed. */
  @TextOrNull() grantId!: string | null;
}

/** What a code was issued for. */
export interface NewAuthorizationCode {
  digest: Buffer;
  clientId: string;
  userId: string;
  redirectUri: string;
  scopes: string[];
  codeChallenge: string | null;
  /** What the tokens will be for (RFC 8707); null for everything. */
  resources?: string[] | null;
  /** When and how the user had logged in, if the client asked for it (RFC 9470). */
  authTime?: Date;
  acr?: string;
  dpopJkt: string | null;
  ttl: number;
}

/** A stored code. */
export interface FoundAuthorizationCode {
  clientId: string;
  redirectUri: string;
  scopes: string[];
  codeChallenge: string | null;
  resources: string[] | null;
  /** The thumbprint of the key that it is bound to; null for none. */
  dpopJkt: string | null;
  expired: boolean;
  /** The grant created from the code, once it was consumed. */
  grantId: string | null;
}

/** What one exchange writes. */
interface CodeExchange {
  codeDigest: Buffer;
  grantId: string;
  /** The key that signs the tokens, and the era of the database (see `Stamp`). */
  keyId: number;
  era: number;
  /** Those of the token request; null if there were none. */
  resources: string[] | null;
  accessTtl: number;
  refreshTtl: number;
  grantTtl: number;
  /** The thumbprint of the key that the tokens are bound to; null for none. */
  jkt: string | null;
}

/** The first tokens of the grant that a code was exchanged for, with its client and user. */
interface ExchangedCode extends GenerationRow {
  clientId: string;
  userId: string;
}

@Injectable()
export class AuthorizationCodesRepository {
  constructor(
    @InjectRepository(AuthorizationCodeEntity) private readonly codes: Repository<AuthorizationCodeEntity>,
    private readonly statements: Statements,
  ) {}

  /**
   * Locks the client, the user and the session as active until the transaction ends; false if one of them no longer is, or the client
   * has become a gatekeeper. Disabling or logging out waits for these share locks, and then finds the stored code. In SQL, because one
   * statement locks rows of three tables.
   */
  async hold(clientId: string, userId: string, sessionDigest: Buffer): Promise<boolean> {
    const rows: unknown[] = await this.codes.manager.query(
      `SELECT 1 FROM clients c, users u, sessions s
        WHERE c.id = $1 AND c.enabled AND NOT c.gatekeeper
          AND u.id = $2 AND u.enabled AND s.digest = $3 AND s.user_id = u.id AND s.expires_at > now()
          FOR SHARE OF c, u, s`,
      [clientId, userId, sessionDigest],
    );
    return rows.length === 1;
  }

  /** Locks the client and a driver of its sandbox in the same way; false if one of them is no longer active. */
  async holdDriver(clientId: string, userId: string): Promise<boolean> {
    const rows: unknown[] = await this.codes.manager.query(
      `SELECT 1 FROM clients c, users u
        WHERE c.id = $1 AND c.enabled AND NOT c.gatekeeper AND c.environment = 'sandbox' AND u.id = $2 AND u.enabled AND u.realm = c.realm
          FOR SHARE OF c, u`,
      [clientId, userId],
    );
    return rows.length === 1;
  }

  async insert({ ttl, ...code }: NewAuthorizationCode): Promise<void> {
    await this.codes
      .createQueryBuilder()
      .insert()
      .values({ ...code, expiresAt: () => 'now() + make_interval(secs => :ttl)' })
      .setParameter('ttl', ttl)
      .updateEntity(false)
      .execute();
  }

  /** Deletes the codes that were not exchanged yet: of a client, of a user, or of a user to a client. */
  async deleteUnused(selection: { clientId: string } | { userId: string }): Promise<void> {
    await this.codes.delete({ ...selection, consumedAt: IsNull() });
  }

  /** A named statement, because every exchange of a code waits for it. */
  async find(digest: Buffer): Promise<FoundAuthorizationCode | undefined> {
    const [row] = await this.statements.run<FoundAuthorizationCode>(
      'authorization code',
      `SELECT client_id AS "clientId", redirect_uri AS "redirectUri", to_json(scopes) AS scopes, code_challenge AS "codeChallenge",
              to_json(resources) AS resources, dpop_jkt AS "dpopJkt", expires_at <= now() AS expired, grant_id AS "grantId"
         FROM authorization_codes WHERE digest = $1`,
      [digest],
    );
    return row;
  }

  /**
   * Consumes the code and stores the grant with its first tokens in one statement, so that only one of several concurrent
   * exchanges succeeds. Client, user and consent are locked as active until it commits. Undefined if the code was consumed or has
   * expired, or something it depends on ended. In SQL, because one statement guards and writes several tables.
   */
  async exchange(exchange: CodeExchange): Promise<ExchangedCode | undefined> {
    const [row] = await this.statements.run<ExchangedCode>(
      'code exchange',
      `WITH code AS MATERIALIZED (
         SELECT client_id, user_id, scopes FROM authorization_codes WHERE digest = $1
       ), holder AS MATERIALIZED (
         SELECT code.client_id, code.user_id,
                ARRAY(SELECT s FROM unnest(code.scopes) s WHERE s = ANY (k.scopes) AND s = ANY (c.scopes)) AS scopes,
                coalesce(k.expires_at, 'infinity') AS consent_ends
           FROM code
           JOIN clients c ON c.id = code.client_id AND c.enabled
           JOIN users u ON u.id = code.user_id AND u.enabled
           JOIN consents k ON k.client_id = c.id AND k.user_id = u.id AND ${consentIsLive('k')}
            FOR SHARE OF c, u, k
       ), consumed AS (
         UPDATE authorization_codes a SET consumed_at = now(), grant_id = $2
           FROM holder
          WHERE a.digest = $1 AND a.consumed_at IS NULL AND a.expires_at > now() AND holder.scopes <> '{}'
          RETURNING holder.client_id, holder.user_id, holder.scopes, a.resources, a.auth_time, a.acr,
                    now() + make_interval(secs => $5) AS own_end,
                    least(now() + make_interval(secs => $5), holder.consent_ends) AS ends
       )
       INSERT INTO grants AS g (id, client_id, user_id, scopes, expires_at, own_end, token_key_id, token_era, token_position,
                                resources, given_resources, auth_time, acr, access_expires_at, refresh_expires_at, look_again_at,
                                dpop_jkt)
       SELECT $2, client_id, user_id, scopes, ends, own_end, $6, $7,
              pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
              coalesce(resources, $9::text[]), CASE WHEN resources IS NOT NULL THEN $9::text[] END, auth_time, acr,
              least(now() + make_interval(secs => $3), ends), least(now() + make_interval(secs => $4), ends),
              least(now() + make_interval(secs => $4), ends), $8
         FROM consumed
       RETURNING g.client_id AS "clientId", g.user_id AS "userId", ${GENERATION_COLUMNS}`,
      [
        exchange.codeDigest,
        exchange.grantId,
        exchange.accessTtl,
        exchange.refreshTtl,
        exchange.grantTtl,
        exchange.keyId,
        exchange.era,
        exchange.jkt,
        exchange.resources,
      ],
    );
    return row;
  }
}

import { Injectable } from '@nestjs/common';
import { batched } from '#platform/database/queries/batched.js';
import { consentIsLive } from '#access/consents/consent.sql.js';
import { InputRows } from '#platform/database/queries/input-rows.js';
import { arrayParameter, Statements } from '#platform/database/queries/statements.js';
import type { TokenAdditions } from '../keys/token-additions.js';
import type { RefreshTokenRecord } from '../keys/token-record.js';

/** The maximum number of rotations that are remembered: as many as a client may make in a minute. Older tokens are past their grace time. */
const REMEMBERED = 600;

/** Rotations closer together than this part of the grace time share the time of the first of them. */
const PART = 64;

/**
 * Whether a token of this generation was rotated within the grace time. A grant stores when its generations were retired: the
 * latest exactly, and of the others one for each 64th of the grace time, so that its row stays small however often it rotates.
 * `generation`: SQL of the token's generation; `grace`: SQL of the grace time in seconds. The row of the grant is `g`.
 */
const rotatedWithin = (generation: string, grace: string): string =>
  `g.generation > ${generation} AND g.generation - ${generation} <= ${REMEMBERED}
     AND coalesce(g.rotations[width_bucket(${generation}, g.rotated_generations)] > ${graceBegan(grace)}, false)`;

/** The assignment that stores the rotation of the current generation now, and forgets those past their grace time. */
const storeRotation = (grace: string): string =>
  `(rotations, rotated_generations) = (
     SELECT g.rotations[first:last] || now(), g.rotated_generations[first:last] || g.generation
       FROM (SELECT width_bucket(${graceBegan(grace)}, g.rotations) + 1 AS first,
                    CASE WHEN g.rotations[cardinality(g.rotations) - 1] > now() - make_interval(secs => ${grace} / ${PART}.0)
                         THEN cardinality(g.rotations) - 1 ELSE cardinality(g.rotations) END AS last) AS kept)`;

const graceBegan = (grace: string) => `now() - make_interval(secs => ${grace})`;

/** What the access token of a grant's generation contains, as stored in the grant's row; times in milliseconds since 1970. */
export interface GenerationRow {
  generation: number;
  keyId: number;
  era: number;
  position: number;
  issuedAt: number;
  expiresAt: number;
  /** What the access token may do. */
  given: string[];
  /** What else it says; null for an ordinary one. */
  additions: TokenAdditions | null;
  /** When the grant ends. */
  endsAt: number;
  /** The thumbprint of the key that the pair is bound to; null for none. */
  dpopJkt: string | null;
  /** Remaining seconds of the refresh token and of the grant. */
  refreshExpiresIn: number;
  authorizationExpiresIn: number;
}

/** The current state of a grant, and of everything that the use of one of its refresh tokens depends on. */
export interface FoundGrant extends GenerationRow {
  clientId: string;
  userId: string;
  /** The scopes asked for with this generation. */
  asked: string[];
  /** What the grant was authorized for (RFC 8707); null for everything. */
  resources: string[] | null;
  /** The refresh token of this generation has expired unused. */
  expired: boolean;
  /** This token was rotated, and its grace time has not ended. */
  inGrace: boolean;
  /** Remaining seconds of the access token of this generation. */
  expiresIn: number;
  /** The access token was revoked on its own, so its owner has received it. */
  accessRevoked: boolean;
  /** The key that signed the sent token, or the one that signed this generation, is revoked. */
  keyRevoked: boolean;
  /** Grant, consent, user and client are all active. */
  grantLive: boolean;
  grantRevoked: boolean;
  grantScopes: string[];
  clientScopes: string[];
  consentScopes: string[];
  /** The transaction position at which all this was valid. */
  seenAt: number;
}

/** A lookup: a refresh token, and the grace time in seconds. */
interface RefreshQuestion extends RefreshTokenRecord {
  grace: number;
}

/** What a rotation writes; lifetimes in seconds. */
interface Rotation {
  grantId: string;
  /** The generation that is retired. */
  generation: number;
  keyId: number;
  era: number;
  position: number;
  /** Scopes, separated by spaces. */
  asked: string;
  given: string;
  /** Those that the access token is for, if fewer than the grant has; otherwise empty. */
  resources: string;
  /** The thumbprint of the key that the new pair is bound to; empty for none. */
  jkt: string;
  refreshTtl: number;
  accessTtl: number;
  grace: number;
}

const QUESTIONS = new InputRows<RefreshQuestion>(
  { text: ['grantId', 'keyId'], int: ['generation', 'grace'] },
  arrayParameter,
);
const ROTATIONS = new InputRows<Rotation>(
  {
    text: ['grantId', 'keyId', 'era', 'position', 'asked', 'given', 'resources', 'jkt'],
    int: ['generation', 'refreshTtl', 'accessTtl', 'grace'],
  },
  arrayParameter,
);

const MILLISECONDS = (column: string) => `floor(extract(epoch FROM ${column}) * 1000)::float8`;

const SECONDS_LEFT = (column: string) => `greatest(0, floor(extract(epoch FROM ${column} - now())))::int`;

/** The {@link TokenAdditions} of a grant's access token. */
const ADDITIONS = `CASE WHEN g.resources IS NOT NULL OR g.given_resources IS NOT NULL OR g.acr IS NOT NULL THEN
                json_strip_nulls(json_build_object('aud', coalesce(g.given_resources, g.resources),
                  'auth_time', floor(extract(epoch FROM g.auth_time))::bigint, 'acr', g.acr)) END`;

/** The columns of a {@link GenerationRow}. Arrays are JSON here and below, which is parsed several times as fast. */
export const GENERATION_COLUMNS = `g.generation, g.token_key_id::float8 AS "keyId", g.token_era::float8 AS era, g.token_position::float8 AS position,
              ${MILLISECONDS('g.issued_at')} AS "issuedAt", ${MILLISECONDS('g.access_expires_at')} AS "expiresAt",
              to_json(coalesce(g.given_scopes, g.scopes)) AS given, ${ADDITIONS} AS additions,
              ${MILLISECONDS('g.expires_at')} AS "endsAt", g.dpop_jkt AS "dpopJkt",
              ${SECONDS_LEFT('g.refresh_expires_at')} AS "refreshExpiresIn", ${SECONDS_LEFT('g.expires_at')} AS "authorizationExpiresIn"`;

/**
 * Stores the state of all refresh tokens of a grant in the grant's row. Only by batched and named statements, because every
 * refresh waits for them.
 */
@Injectable()
export class RefreshTokensRepository {
  constructor(private readonly statements: Statements) {}

  /** The grant of a refresh token. Concurrent calls share one query. */
  readonly find = batched<RefreshQuestion, FoundGrant | undefined>(async (questions) => {
    const rows = await this.statements.run<FoundGrant & { n: number }>(
      'grants of refresh tokens',
      `SELECT a.n::int AS n, g.client_id AS "clientId", g.user_id AS "userId", ${GENERATION_COLUMNS},
              to_json(coalesce(g.asked_scopes, g.scopes)) AS asked, to_json(g.resources) AS resources,
              g.refresh_expires_at <= now() AS expired,
              ${rotatedWithin('a.generation', 'a.grace')} AS "inGrace",
              greatest(0, floor(extract(epoch FROM g.access_expires_at - now())))::int AS "expiresIn",
              r.id IS NOT NULL AS "accessRevoked",
              EXISTS (SELECT 1 FROM token_keys s
                       WHERE s.id IN (a.key_id::bigint, g.token_key_id) AND s.revoked_at IS NOT NULL) AS "keyRevoked",
              g.revoked_at IS NULL AND g.expires_at > now() AND c.enabled AND u.enabled
                AND ${consentIsLive('k')} AS "grantLive", g.revoked_at IS NOT NULL AS "grantRevoked",
              to_json(g.scopes) AS "grantScopes", to_json(c.scopes) AS "clientScopes", to_json(k.scopes) AS "consentScopes",
              pg_snapshot_xmin(pg_current_snapshot())::text::float8 AS "seenAt"
         FROM unnest(${QUESTIONS.arrays}) WITH ORDINALITY AS a (${QUESTIONS.columns}, n)
         JOIN grants g ON g.id = a.grant_id
         JOIN clients c ON c.id = g.client_id
         JOIN users u ON u.id = g.user_id
         JOIN consents k ON k.client_id = g.client_id AND k.user_id = g.user_id
         LEFT JOIN revoked_access_tokens r ON r.id = g.id || '.' || g.generation`,
      QUESTIONS.parameters(questions),
    );
    const found = new Map(rows.map((row) => [row.n, row]));
    return questions.map((_, n) => found.get(n + 1));
  });

  /**
   * Retires the token and starts the next generation with one guarded update of the grant's row, in place. Only one of several
   * concurrent rotations succeeds, and after a committed revocation there is nothing left to rotate. Undefined if the generation
   * or the grant has ended. Concurrent calls share one statement. It skips a locked grant, so that the others do not wait for it.
   */
  async rotate(rotation: Rotation): Promise<(GenerationRow & { expiresIn: number }) | undefined> {
    return (await this.rotateTogether(rotation)) ?? (await this.rotateAll([rotation], ''))[0];
  }

  private readonly rotateTogether = batched<Rotation, (GenerationRow & { expiresIn: number }) | undefined>(
    async (rotations) => {
      const done = new Map((await this.rotateAll(rotations, 'SKIP LOCKED')).map((row) => [row.n, row]));
      return rotations.map((_, n) => done.get(n + 1));
    },
  );

  /**
   * Starts another access token of the generation and moves the idle end of its refresh token, which stays as it is. Undefined if the
   * generation or the grant has ended.
   */
  async prolong(rotation: Rotation): Promise<(GenerationRow & { expiresIn: number }) | undefined> {
    const [row] = await this.statements.run<GenerationRow & { expiresIn: number }>(
      'refresh without rotation',
      `UPDATE grants g
          SET token_key_id = a.key_id::bigint, token_era = a.era::bigint, token_position = a.position::bigint, issued_at = now(),
              asked_scopes = nullif(string_to_array(a.asked, ' '), g.scopes),
              given_scopes = nullif(string_to_array(a.given, ' '), g.scopes),
              given_resources = string_to_array(nullif(a.resources, ''), ' '), dpop_jkt = nullif(a.jkt, ''),
              access_expires_at = least(now() + make_interval(secs => a.access_ttl), g.expires_at),
              refresh_expires_at = least(now() + make_interval(secs => a.refresh_ttl), g.expires_at)
         FROM unnest(${ROTATIONS.arrays}) AS a (${ROTATIONS.columns})
        WHERE g.id = a.grant_id AND g.generation = a.generation AND g.refresh_expires_at > now()
          AND g.revoked_at IS NULL AND g.expires_at > now()
       RETURNING ${GENERATION_COLUMNS},
                 floor(extract(epoch FROM g.access_expires_at - now()))::int AS "expiresIn"`,
      ROTATIONS.parameters([rotation]),
    );
    return row;
  }

  private rotateAll(
    rotations: readonly Rotation[],
    skip: 'SKIP LOCKED' | '',
  ): Promise<(GenerationRow & { n: number; expiresIn: number })[]> {
    return this.statements.run(
      `rotation ${skip}`,
      `WITH asked AS MATERIALIZED (
         SELECT * FROM unnest(${ROTATIONS.arrays}) WITH ORDINALITY AS a (${ROTATIONS.columns}, n)
       ), held AS MATERIALIZED (
         SELECT id FROM grants
          -- The ids of the grants.
          WHERE id = ANY (${arrayParameter(1, 'text')}) AND revoked_at IS NULL AND expires_at > now() FOR NO KEY UPDATE ${skip}
       )
       UPDATE grants g
          SET generation = g.generation + 1, token_key_id = a.key_id::bigint, token_era = a.era::bigint,
              token_position = a.position::bigint, issued_at = now(),
              asked_scopes = nullif(string_to_array(a.asked, ' '), g.scopes),
              given_scopes = nullif(string_to_array(a.given, ' '), g.scopes),
              given_resources = string_to_array(nullif(a.resources, ''), ' '),
              dpop_jkt = nullif(a.jkt, ''),
              access_expires_at = least(now() + make_interval(secs => a.access_ttl), g.expires_at),
              refresh_expires_at = least(now() + make_interval(secs => a.refresh_ttl), g.expires_at),
              ${storeRotation('a.grace')}
         FROM asked a JOIN held ON held.id = a.grant_id
        WHERE g.id = a.grant_id AND g.generation = a.generation AND g.refresh_expires_at > now()
          AND g.revoked_at IS NULL AND g.expires_at > now()
       RETURNING a.n::int AS n, ${GENERATION_COLUMNS},
                 floor(extract(epoch FROM g.access_expires_at - now()))::int AS "expiresIn"`,
      ROTATIONS.parameters(rotations),
    );
  }
}

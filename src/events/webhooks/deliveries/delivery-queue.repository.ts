import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { userShares } from '#access/consents/consent.sql.js';
import { WorkerStatements } from '#platform/database/queries/worker-statements.js';
import { BATCHES, CUT, NEXT_BATCH_MS } from '../batches/batches.sql.js';
import { HAS_FAILED_FOR_LONG, IS_FAILING, NOT_TOLD } from '../endpoints/endpoints.repository.js';
import { DeliveryEntity } from './delivery.entity.js';
import { lineOf, LINES, MISSED, placeOf } from './delivery-lines.sql.js';
import { DUE, IN_QUEUE } from './due-deliveries.sql.js';
import type { ClaimedDelivery, FinishedClaim } from './claimed-delivery.js';

/** The channel on which instances announce that there is something to deliver. */
export const WAKE_UP_CHANNEL = 'webhook_deliveries';
/** Contract §10: an attempt holds a lease of at most 30 s. */
export const LEASE_SECONDS = 30;
/** Contract §22: attempts are counted by the second in which they start, so one second more than a minute has to pass. */
const WINDOW = "interval '61 seconds'";
/** An endpoint whose answers take longer on average is slow, and has few attempts at a time. */
const SLOW_MS = 1000;
/** Contract §18: by how many of its last attempts an endpoint counts as failing. */
const RECENT = 20;
/** As many rows as a statement changes quickly. */
const LINED_UP_AT_ONCE = 5_000;

/** The endpoints with pending deliveries, with a null at the end: found in a few steps through an index. */
const QUEUE = `queue AS (
         (SELECT endpoint_id FROM deliveries WHERE state = 'pending' ORDER BY ${IN_QUEUE} LIMIT 1)
         UNION ALL
         SELECT (SELECT d.endpoint_id FROM deliveries d
                  WHERE d.state = 'pending' AND d.endpoint_id > q.endpoint_id ORDER BY ${IN_QUEUE} LIMIT 1)
           FROM queue q WHERE q.endpoint_id IS NOT NULL
       )`;

/** The same with the turn of each: what has waited longest comes first. */
const TURNS = (endpointId: string, limit: string) => `(
             SELECT d.id, row_number() OVER (ORDER BY d.at) AS turn FROM (${DUE(endpointId, limit)}) d ORDER BY d.at LIMIT ${limit})`;

// What a partner answers may name the person. That consents were revoked is sent after an erasure too, when the event has no user.
const MAY_KEEP_ANSWER = `NOT d.erased AND (d.event_type <> 'user.consent_revoked'
  OR EXISTS (SELECT 1 FROM events v WHERE v.id = d.event_id AND (v.user_id IS NOT NULL OR v.test)))`;

// Every member by itself: copying objects takes several times as long. What is undefined is left out, and null in the database.
const rowOf = ({ id, leaseId, state, cancelReason, waitSeconds = 0, attempt }: FinishedClaim) => ({
  id,
  lease_id: leaseId,
  state,
  cancel_reason: cancelReason,
  wait_seconds: waitSeconds,
  attempted_at: attempt?.attemptedAt,
  duration_ms: attempt && Math.round(attempt.durationMs),
  status: attempt?.status,
  failure: attempt?.failure,
  detail: attempt?.detail,
  response_headers: attempt?.responseHeaders,
  response_start: attempt?.responseStart,
  signature: attempt?.signature,
  sequence_gap: attempt?.sequenceGap,
  batch_id: attempt?.batchId,
  counted: attempt?.isCounted,
  url: attempt?.url,
  own_headers: attempt?.ownHeaders?.length ? attempt.ownHeaders : undefined,
});
const DONE_COLUMNS = `id text, lease_id text, state text, cancel_reason text, wait_seconds float8, attempted_at timestamptz,
           duration_ms int, status int, failure text, detail text, response_headers jsonb, response_start text, signature text,
           sequence_gap int, batch_id text, counted boolean, url text, own_headers text[]`;

/** What was claimed, and what else there is to do. */
export interface Claims {
  deliveries: ClaimedDelivery[];
  /** How many deliveries of ordered endpoints were put off, or got their place: others are next to be looked at. */
  moved: number;
  /** Endpoints that were switched to `ordered` or back, and take part again after `lineUp`. */
  toLineUp: string[];
  /** How many milliseconds the first batch waits for more; null if none does. */
  nextBatchMs: number | null;
}
/** On a row of its own; null on the others. */
type ClaimedRest = { moved: number | null } & Partial<Pick<Claims, 'toLineUp' | 'nextBatchMs'>>;

/** An endpoint, and its URL at that moment. */
export interface EndpointAtUrl {
  id: string;
  url: string;
}

export interface AffectedEndpoints {
  disable: EndpointAtUrl[];
  /** Their ids. */
  failing: string[];
}

/**
 * The queue of deliveries: claimed under a lease, and returned with the result (contract §10). In SQL, because the query builder
 * supports neither recursive queries that skip locked rows nor writes to several tables in one statement.
 */
@Injectable()
export class DeliveryQueueRepository {
  constructor(
    @InjectRepository(DeliveryEntity) private readonly deliveries: Repository<DeliveryEntity>,
    private readonly statements: WorkerStatements,
  ) {}

  /** Wakes the workers and readers of other instances. */
  async wakeOthers(news: string): Promise<void> {
    // A database function that needs no table.
    await this.deliveries.query('SELECT pg_notify($1, $2)', [WAKE_UP_CHANNEL, news]);
  }

  /**
   * Claims up to `limit` due deliveries, oldest first per endpoint, at most `perEndpoint` of each endpoint or what `room` leaves
   * of it; endpoints take turns. Consent, client and endpoint are checked in the same statement. Rows that another instance is
   * claiming are skipped.
   *
   * A throttled endpoint (contract §22) gets what its last minute leaves, counted in its row of `webhook_throttles`, which the
   * statement locks, or skips if another instance holds it. Until an attempt may start, none of its deliveries is read.
   *
   * Of an ordered endpoint only what is first in its line is claimed (`LINES`); nothing before what waited is lined up. Of one with batches
   * what makes one request, which counts as one (`BATCHES`).
   */
  async claim(
    leaseId: string,
    limit: number,
    perEndpoint: number,
    room: Map<string, number>,
  ): Promise<Claims> {
    const rows = await this.statements.run<ClaimedDelivery & ClaimedRest>(
      'claim deliveries',
      `WITH RECURSIVE ${QUEUE}, queued AS MATERIALIZED (
         -- What a disabled or deleted endpoint has is cancelled, which needs no attempt.
         SELECT q.endpoint_id, e.max_per_minute, e.ordered IS TRUE AS ordered, e.lined_up IS NOT FALSE AS lined_up,
                (e.batch->>'max')::int AS batch_max, (e.batch->>'wait_ms')::int AS batch_wait_ms
           FROM queue q
           LEFT JOIN webhook_endpoints e ON e.id = q.endpoint_id AND e.enabled AND e.deleted_at IS NULL
                                        AND (e.max_per_minute IS NOT NULL OR e.ordered OR NOT e.lined_up OR e.batch IS NOT NULL)
          WHERE q.endpoint_id IS NOT NULL
       ), open AS MATERIALIZED (
         SELECT s.endpoint_id, q.max_per_minute, s.start_seconds, s.start_counts
           FROM queued q JOIN webhook_throttles s ON s.endpoint_id = q.endpoint_id
          WHERE q.max_per_minute IS NOT NULL AND s.blocked_until <= now()
            AND EXISTS (SELECT 1 FROM (${DUE('s.endpoint_id', '1')}) due)
            FOR UPDATE OF s SKIP LOCKED
       ), permit AS MATERIALIZED (
         SELECT o.*, greatest(0, o.max_per_minute - (
                  SELECT coalesce(sum(k.n), 0) FROM unnest(o.start_seconds, o.start_counts) AS k (second, n)
                   WHERE k.second > now() - ${WINDOW}))::int AS starts
           FROM open o
       ), allowed AS MATERIALIZED (
         SELECT q.endpoint_id, q.ordered, q.batch_max, q.batch_wait_ms, NOT q.ordered AND q.batch_max IS NULL AS alone,
                least(coalesce(busy.room, $3), CASE WHEN q.max_per_minute IS NOT NULL THEN
                  coalesce((SELECT p.starts FROM permit p WHERE p.endpoint_id = q.endpoint_id), 0) END) AS starts
           FROM queued q
           LEFT JOIN unnest($4::text[], $5::int[]) AS busy (endpoint_id, room) ON busy.endpoint_id = q.endpoint_id
          WHERE q.lined_up
       ), share AS MATERIALIZED (
         SELECT ceil(2.0 * $2 / count(*))::int AS n FROM allowed HAVING count(*) > 0
       ), first_turns AS MATERIALIZED (
         -- As a rule they are enough, and reading all turns of each endpoint is most of the work.
         SELECT due.* FROM allowed q CROSS JOIN share s CROSS JOIN LATERAL ${TURNS('q.endpoint_id', 'least(q.starts, s.n)')} due
          WHERE q.alone
       ), ${LINES}, ${BATCHES}, candidate AS (
         SELECT due.id, due.turn
           FROM (SELECT id, turn FROM first_turns
                 UNION ALL
                 SELECT due.id, due.turn
                   FROM allowed q CROSS JOIN share s CROSS JOIN LATERAL ${TURNS('q.endpoint_id', 'q.starts')} due
                  WHERE q.alone AND q.starts > s.n AND due.turn > s.n AND (SELECT count(*) FROM first_turns) < $2
                 UNION ALL
                 SELECT f.id, f.turn FROM front f JOIN allowed q ON q.endpoint_id = f.endpoint_id
                  WHERE f.turn <= q.starts AND q.batch_max IS NULL) due
          -- Of those in the same turn any: if more endpoints hang than there is room for, the others get their share.
          ORDER BY due.turn, random() LIMIT $2 - (SELECT count(*) FROM packed)
       ), claimed AS (
         SELECT d.id FROM deliveries d
          WHERE d.id = ANY (ARRAY(SELECT id FROM candidate) || ARRAY(SELECT unnest(ids) FROM packed))
            AND d.state = 'pending' AND d.next_attempt_at <= now()
            -- What others are put off behind is locked before it is taken.
            AND (SELECT count(*) FROM held) >= 0
            FOR UPDATE SKIP LOCKED
       ), ${CUT}, taken AS (
       UPDATE deliveries d
          SET lease_id = $1, behind = false, next_attempt_at = now() + make_interval(secs => $6)
         FROM claimed k, events v, event_types t, webhook_endpoints e, clients c
        WHERE d.id = k.id AND k.id <> ALL (ARRAY(SELECT id FROM cut))
          AND v.id = d.event_id AND t.name = v.type AND e.id = d.endpoint_id AND c.id = e.client_id
       RETURNING d.id, d.lease_id AS "leaseId", d.endpoint_id AS "endpointId", e.url, v.type AS "eventType",
                 v.version AS "eventVersion", v.payload, d.retries,
                 v.test AS "isTest", c.environment = 'sandbox' AS "isSandbox", clock_timestamp() AS "claimedAt",
                 e.sealed_secret AS "sealedSecret",
                 CASE WHEN e.previous_secret_expires_at > now() THEN e.sealed_previous_secret END AS "sealedPreviousSecret",
                 e.sealed_headers AS "sealedHeaders", e.client_id AS "clientId", e.signature_versions AS "signatureVersions",
                 e.authentication, e.sealed_client_secret AS "sealedClientSecret",
                 CASE WHEN e.ordered AND d.line IS NOT NULL THEN ${MISSED} END AS "sequenceGap",
                 -- What a disabled endpoint still gets, a test, is a batch of its own.
                 CASE WHEN e.batch IS NOT NULL THEN json_build_object(
                   'key', CASE WHEN e.enabled THEN e.id ELSE d.id END, 'eventId', v.id, 'place', lpad(v.xid::text, 20, '0') || v.id,
                   'line', CASE WHEN e.ordered THEN d.line::text END) END AS batch,
                 -- One that was made beside an erasure is not marked, but its payload is gone.
                 CASE WHEN d.erased OR v.payload IS NULL THEN 'consent_withdrawn'
                      WHEN e.deleted_at IS NOT NULL THEN 'endpoint_deleted'
                      WHEN NOT c.enabled THEN 'client_disabled'
                      WHEN NOT e.enabled AND NOT v.test THEN 'endpoint_disabled'
                      WHEN t.scope IS NULL THEN NULL
                      WHEN t.scope <> ALL (c.scopes) THEN 'scope_missing'
                      WHEN v.test THEN NULL
                      WHEN NOT ${userShares('c.id', 'v.user_id', 't.scope')} THEN 'consent_withdrawn'
                 END AS "cancelReason"
       ), started AS (
         SELECT k."endpointId" AS endpoint_id, CASE WHEN bool_or(k.batch IS NOT NULL) THEN 1 ELSE count(*)::int END AS n
           FROM taken k WHERE k."cancelReason" IS NULL GROUP BY 1
       ), counted AS (
         UPDATE webhook_throttles s
            SET start_seconds = w.seconds, start_counts = w.counts,
                blocked_until = CASE WHEN r.n < p.starts THEN '-infinity' ELSE w.seconds[1] + ${WINDOW} END
           FROM started r
           JOIN permit p ON p.endpoint_id = r.endpoint_id
           CROSS JOIN LATERAL (
             SELECT array_agg(m.second ORDER BY m.second) AS seconds, array_agg(m.n ORDER BY m.second) AS counts
               FROM (SELECT k.second, sum(k.n)::int AS n
                       FROM (SELECT * FROM unnest(p.start_seconds, p.start_counts) AS kept (second, n)
                              WHERE kept.second > now() - ${WINDOW}
                             UNION ALL SELECT date_trunc('second', now()), r.n) k
                      GROUP BY k.second) m) w
          WHERE s.endpoint_id = r.endpoint_id
       )
       -- One more row says what else there is to do.
       SELECT t.*, w.* FROM taken t
         FULL JOIN (SELECT (SELECT count(*)::int FROM moved) AS moved,
                           ARRAY(SELECT endpoint_id FROM queued WHERE NOT lined_up) AS "toLineUp",
                           ${NEXT_BATCH_MS} AS "nextBatchMs") w ON false`,
      [leaseId, limit, perEndpoint, [...room.keys()], [...room.values()], LEASE_SECONDS],
    );
    const claimedAtSteady = performance.now();
    const claims: Claims = { deliveries: [], moved: 0, toLineUp: [], nextBatchMs: null };
    for (const row of rows) {
      if (row.moved === null) {
        // Not copied: that takes several times as long.
        row.claimedAtSteady = claimedAtSteady;
        claims.deliveries.push(row);
      } else
        Object.assign(claims, { moved: row.moved, toLineUp: row.toLineUp, nextBatchMs: row.nextBatchMs });
    }
    return claims;
  }

  /**
   * Gives what waits at an endpoint its place in the lines, or makes it due that was put off, as `ordered` says now; returns whether that is done.
   * Call it until then: each call changes a part, so that no statement takes long.
   */
  async lineUp(endpointId: string): Promise<boolean> {
    const [row] = await this.statements.run<{ isDone: boolean }>(
      'line deliveries up',
      `WITH endpoint AS MATERIALIZED (
         SELECT id, ordered, updated_at FROM webhook_endpoints WHERE id = $1 AND NOT lined_up
       ), misplaced AS MATERIALIZED (
         SELECT d.id, CASE WHEN e.ordered THEN ${lineOf('v.user_id')} END AS line, ${placeOf('v.xid')} AS place
           FROM endpoint e
           JOIN deliveries d ON d.endpoint_id = e.id AND d.state = 'pending'
           JOIN events v ON v.id = d.event_id
          WHERE CASE WHEN e.ordered THEN d.line IS NULL AND v.user_id IS NOT NULL ELSE d.behind END
          ORDER BY d.id LIMIT $2 FOR NO KEY UPDATE OF d
       ), placed AS (
         UPDATE deliveries d
            SET line = coalesce(d.line, m.line), place = coalesce(d.place, m.place), behind = false,
                next_attempt_at = CASE WHEN d.behind THEN now() ELSE d.next_attempt_at END,
                due_at = CASE WHEN d.behind THEN now() ELSE d.due_at END
           FROM misplaced m WHERE d.id = m.id
       ), done AS (
         UPDATE webhook_endpoints w SET lined_up = true
           FROM endpoint e
          -- Not if it was switched again in the meantime.
          WHERE w.id = e.id AND w.updated_at = e.updated_at AND NOT EXISTS (SELECT 1 FROM misplaced)
         RETURNING 1
       )
       SELECT EXISTS (SELECT 1 FROM done) OR NOT EXISTS (SELECT 1 FROM endpoint) AS "isDone"`,
      [endpointId, LINED_UP_AT_ONCE],
    );
    return row!.isDone;
  }

  /**
   * The number of pending deliveries, counted up to 10,000; how many seconds the oldest due one has waited; and how many endpoints
   * have due ones that are held back because the endpoint fails or is slow. Those, and throttled ones, do not count as waiting: more
   * instances would not deliver them sooner.
   */
  async waiting(): Promise<{ pending: number; oldestSeconds: number; heldBack: number }> {
    const [row]: { pending: number; oldestSeconds: number; heldBack: number }[] = await this.deliveries.query(
      `WITH RECURSIVE ${QUEUE}, oldest AS (
         SELECT due.at + make_interval(secs => coalesce((e.batch->>'wait_ms')::int, 0) / 1000.0) AS at,
                e.enabled AND (e.recent_results LIKE '%x' OR coalesce(
                  (SELECT sum(h.duration_ms) > ${SLOW_MS} * sum(h.delivered + h.failed) FROM webhook_endpoint_hours h
                    WHERE h.endpoint_id = q.endpoint_id AND h.hour >= now() - interval '2 hours'), false)) AS held
           FROM queue q
           LEFT JOIN webhook_endpoints e ON e.id = q.endpoint_id
           CROSS JOIN LATERAL (SELECT d.at FROM (${DUE('q.endpoint_id', '1')}) d ORDER BY d.at LIMIT 1) due
          WHERE e.max_per_minute IS NULL OR NOT e.enabled
       )
       SELECT (SELECT count(*)::int FROM (SELECT 1 FROM deliveries WHERE state = 'pending' LIMIT 10000) p) AS pending,
              greatest(0, coalesce(extract(epoch FROM now() - min(at) FILTER (WHERE held IS NOT TRUE)), 0))::float8
                AS "oldestSeconds",
              (count(*) FILTER (WHERE held))::int AS "heldBack"
         FROM oldest`,
    );
    return row!;
  }

  /**
   * Writes the results of claims in one statement; a claim whose lease was taken over changes nothing. Returns the endpoints to
   * disable (enabled, and without a success for five days), and the failing ones that nobody was told about within a day.
   * Only attempts at its present URL count for an endpoint.
   */
  async finish(finished: FinishedClaim[]): Promise<AffectedEndpoints> {
    const rows = await this.statements.run<{ url: string; disable: string | null; failing: string | null }>(
      'finish deliveries',
      `WITH done AS (
         -- One text costs less than an array for each member.
         SELECT * FROM json_to_recordset($1::json) AS d (${DONE_COLUMNS})
       ), changed AS (
         UPDATE deliveries d
            SET state = done.state,
                cancel_reason = done.cancel_reason,
                attempts = d.attempts + (done.attempted_at IS NOT NULL)::int,
                retries = d.retries + (done.attempted_at IS NOT NULL AND done.state = 'pending')::int,
                -- What is about a person who was erased in the meantime is due at once, to be cancelled.
                (next_attempt_at, due_at) = (
                  SELECT at, at FROM (SELECT CASE WHEN done.state = 'pending' THEN
                                        now() + make_interval(secs => CASE WHEN d.erased THEN 0 ELSE done.wait_seconds END) END AS at) a),
                finished_at = CASE WHEN done.state <> 'pending' THEN now() END,
                lease_id = NULL
           FROM done
          WHERE d.id = done.id AND d.lease_id = done.lease_id
         RETURNING d.id, d.endpoint_id, d.attempts AS number, d.state, done.attempted_at, done.duration_ms, done.status,
                   done.failure, done.detail, CASE WHEN ${MAY_KEEP_ANSWER} THEN done.response_start END AS response_start,
                   CASE WHEN ${MAY_KEEP_ANSWER} THEN done.response_headers END AS response_headers, done.signature,
                   done.sequence_gap, done.batch_id, done.counted, done.url, done.own_headers,
                   done.batch_id IS NOT NULL AND NOT (${MAY_KEEP_ANSWER}) AS forgets_batch
       ), forgotten AS MATERIALIZED (
         -- The answer to a batch may name each of its persons, also one who was erased when the lease had ended.
         SELECT batch_id FROM changed WHERE forgets_batch
         UNION ALL
         SELECT batch_id FROM done WHERE batch_id IS NOT NULL AND id NOT IN (SELECT id FROM changed)
       ), made AS (
         SELECT * FROM changed WHERE attempted_at IS NOT NULL
       ), attempt AS (
         INSERT INTO delivery_attempts (delivery_id, number, attempted_at, duration_ms, status, failure, detail,
                                        response_start, signature, response_headers, sequence_gap, batch_id, url, own_headers)
         SELECT id, number, attempted_at, duration_ms, status, failure, detail,
                CASE WHEN batch_id = ANY (ARRAY(SELECT batch_id FROM forgotten)) THEN NULL ELSE response_start END, signature,
                CASE WHEN batch_id = ANY (ARRAY(SELECT batch_id FROM forgotten)) THEN NULL ELSE response_headers END,
                sequence_gap, batch_id, url, own_headers FROM made
       ), locked AS MATERIALIZED (
         -- In one order, whichever instance comes first.
         SELECT e.id, e.url FROM webhook_endpoints e WHERE e.id IN (SELECT endpoint_id FROM made)
          ORDER BY e.id FOR NO KEY UPDATE
       ), by_endpoint AS (
         SELECT m.endpoint_id, count(*) FILTER (WHERE m.state = 'delivered')::int AS delivered,
                count(*) FILTER (WHERE m.state <> 'delivered')::int AS failed,
                count(*) FILTER (WHERE m.state = 'delivered' AND m.url = l.url)::int AS delivered_here,
                count(*) FILTER (WHERE m.state <> 'delivered' AND m.url = l.url)::int AS failed_here,
                sum(m.duration_ms)::bigint AS duration_ms, max(m.duration_ms) AS slowest_ms
           FROM made m JOIN locked l ON l.id = m.endpoint_id AND m.counted IS NOT FALSE GROUP BY m.endpoint_id
       ), hours AS (
         INSERT INTO webhook_endpoint_hours AS h (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
         SELECT endpoint_id, date_trunc('hour', now(), 'UTC'), delivered, failed, duration_ms, slowest_ms
           FROM by_endpoint ORDER BY endpoint_id
         ON CONFLICT (endpoint_id, hour) DO UPDATE
           SET delivered = h.delivered + excluded.delivered, failed = h.failed + excluded.failed,
               duration_ms = h.duration_ms + excluded.duration_ms, slowest_ms = greatest(h.slowest_ms, excluded.slowest_ms)
       )
       UPDATE webhook_endpoints e
          SET last_attempt_at = now(),
              -- By this clock, as what it is compared with: an instance's own may be days off.
              failing_since = CASE WHEN b.delivered_here > 0 THEN NULL
                                   WHEN b.failed_here > 0 THEN coalesce(e.failing_since, now())
                                   ELSE e.failing_since END,
              -- Their order within one batch is not known, but their number is: of more than are kept, the share.
              recent_results = right(e.recent_results || repeat('.', kept.n - bad.n) || repeat('x', bad.n), ${RECENT})
         FROM by_endpoint b
         CROSS JOIN LATERAL (SELECT least(b.delivered_here + b.failed_here, ${RECENT}) AS n) kept
         CROSS JOIN LATERAL (SELECT b.failed_here * kept.n / greatest(b.delivered_here + b.failed_here, 1) AS n) bad
        WHERE e.id = b.endpoint_id
       RETURNING e.url,
                 CASE WHEN e.enabled AND ${HAS_FAILED_FOR_LONG} THEN e.id END AS disable,
                 CASE WHEN b.failed_here > 0 AND e.enabled AND ${IS_FAILING} AND ${NOT_TOLD} THEN e.id END AS failing`,
      [JSON.stringify(finished.map(rowOf))],
    );
    return {
      disable: rows.flatMap(({ disable, url }) => (disable === null ? [] : { id: disable, url })),
      failing: rows.flatMap(({ failing }) => failing ?? []),
    };
  }
}

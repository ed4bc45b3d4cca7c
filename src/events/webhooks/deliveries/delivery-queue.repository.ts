import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { userShares } from '#access/consents/consent.sql.js';
import { WorkerStatements } from '#platform/database/queries/worker-statements.js';
import { HAS_FAILED_FOR_LONG, IS_FAILING, NOT_TOLD } from '../endpoints/endpoints.repository.js';
import { DeliveryEntity } from './delivery.entity.js';
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

/** The endpoints with pending deliveries, with a null at the end: found in a few steps through an index. */
const QUEUE = `queue AS (
         (SELECT endpoint_id FROM deliveries WHERE state = 'pending' ORDER BY endpoint_id LIMIT 1)
         UNION ALL
         SELECT (SELECT d.endpoint_id FROM deliveries d
                  WHERE d.state = 'pending' AND d.endpoint_id > q.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
           FROM queue q WHERE q.endpoint_id IS NOT NULL
       )`;

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
  url: attempt?.url,
  own_headers: attempt?.ownHeaders?.length ? attempt.ownHeaders : undefined,
});
const DONE_COLUMNS = `id text, lease_id text, state text, cancel_reason text, wait_seconds float8, attempted_at timestamptz,
           duration_ms int, status int, failure text, detail text, response_headers jsonb, response_start text, signature text,
           url text, own_headers text[]`;

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
   */
  async claim(
    leaseId: string,
    limit: number,
    perEndpoint: number,
    room: Map<string, number>,
  ): Promise<ClaimedDelivery[]> {
    const rows = await this.statements.run<Omit<ClaimedDelivery, 'claimedAtSteady'>>(
      'claim deliveries',
      `WITH RECURSIVE ${QUEUE}, queued AS MATERIALIZED (
         -- What a disabled or deleted endpoint has is cancelled, which needs no attempt.
         SELECT q.endpoint_id, e.max_per_minute
           FROM queue q
           LEFT JOIN webhook_endpoints e ON e.id = q.endpoint_id AND e.max_per_minute IS NOT NULL
                                        AND e.enabled AND e.deleted_at IS NULL
          WHERE q.endpoint_id IS NOT NULL
       ), open AS MATERIALIZED (
         SELECT s.endpoint_id, q.max_per_minute, s.start_seconds, s.start_counts
           FROM queued q JOIN webhook_throttles s ON s.endpoint_id = q.endpoint_id
          WHERE q.max_per_minute IS NOT NULL AND s.blocked_until <= now()
            AND EXISTS (SELECT 1 FROM deliveries d
                         WHERE d.endpoint_id = s.endpoint_id AND d.state = 'pending' AND d.next_attempt_at <= now())
            FOR UPDATE OF s SKIP LOCKED
       ), permit AS MATERIALIZED (
         SELECT o.*, greatest(0, o.max_per_minute - (
                  SELECT coalesce(sum(k.n), 0) FROM unnest(o.start_seconds, o.start_counts) AS k (second, n)
                   WHERE k.second > now() - ${WINDOW}))::int AS starts
           FROM open o
       ), candidate AS (
         SELECT due.id, due.turn
           FROM queued q
           LEFT JOIN unnest($4::text[], $5::int[]) AS busy (endpoint_id, room) ON busy.endpoint_id = q.endpoint_id
           CROSS JOIN LATERAL (
             SELECT least(coalesce(busy.room, $3), CASE WHEN q.max_per_minute IS NOT NULL THEN
                      coalesce((SELECT p.starts FROM permit p WHERE p.endpoint_id = q.endpoint_id), 0) END) AS starts) may
           CROSS JOIN LATERAL (
             -- By default PostgreSQL 15 numbers what is due at one instant together, and reads all of it.
             SELECT d.id, row_number() OVER (ORDER BY d.next_attempt_at ROWS UNBOUNDED PRECEDING) AS turn
               FROM deliveries d
              WHERE d.endpoint_id = q.endpoint_id AND d.state = 'pending' AND d.next_attempt_at <= now()
              ORDER BY d.next_attempt_at LIMIT may.starts) due
          -- Of those in the same turn any: if more endpoints hang than there is room for, the others get their share.
          ORDER BY due.turn, random() LIMIT $2
       ), claimed AS (
         SELECT d.id FROM deliveries d
          WHERE d.id = ANY (ARRAY(SELECT id FROM candidate)) AND d.state = 'pending' AND d.next_attempt_at <= now()
            FOR UPDATE SKIP LOCKED
       ), taken AS (
       UPDATE deliveries d
          SET lease_id = $1, next_attempt_at = now() + make_interval(secs => $6)
         FROM claimed k, events v, event_types t, webhook_endpoints e, clients c
        WHERE d.id = k.id AND v.id = d.event_id AND t.name = v.type AND e.id = d.endpoint_id AND c.id = e.client_id
       RETURNING d.id, d.lease_id AS "leaseId", d.endpoint_id AS "endpointId", e.url, v.type AS "eventType",
                 v.version AS "eventVersion", v.payload, d.retries,
                 v.test AS "isTest", c.environment = 'sandbox' AS "isSandbox", clock_timestamp() AS "claimedAt",
                 e.sealed_secret AS "sealedSecret",
                 CASE WHEN e.previous_secret_expires_at > now() THEN e.sealed_previous_secret END AS "sealedPreviousSecret",
                 e.sealed_headers AS "sealedHeaders", e.client_id AS "clientId", e.signature_versions AS "signatureVersions",
                 e.authentication, e.sealed_client_secret AS "sealedClientSecret",
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
         SELECT k."endpointId" AS endpoint_id, count(*)::int AS n FROM taken k WHERE k."cancelReason" IS NULL GROUP BY 1
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
       SELECT * FROM taken`,
      [leaseId, limit, perEndpoint, [...room.keys()], [...room.values()], LEASE_SECONDS],
    );
    const claimedAtSteady = performance.now();
    return rows.map((row) => ({ ...row, claimedAtSteady }));
  }

  /**
   * The number of pending deliveries, counted up to 10,000; how many seconds the oldest due one has waited; and how many endpoints
   * have due ones that are held back because the endpoint fails or is slow. Those, and throttled ones, do not count as waiting: more
   * instances would not deliver them sooner.
   */
  async waiting(): Promise<{ pending: number; oldestSeconds: number; heldBack: number }> {
    const [row]: { pending: number; oldestSeconds: number; heldBack: number }[] = await this.deliveries.query(
      `WITH RECURSIVE ${QUEUE}, oldest AS (
         SELECT due.at, e.enabled AND (e.recent_results LIKE '%x' OR coalesce(
                  (SELECT sum(h.duration_ms) > ${SLOW_MS} * sum(h.delivered + h.failed) FROM webhook_endpoint_hours h
                    WHERE h.endpoint_id = q.endpoint_id AND h.hour >= now() - interval '2 hours'), false)) AS held
           FROM queue q
           LEFT JOIN webhook_endpoints e ON e.id = q.endpoint_id
           CROSS JOIN LATERAL (
             SELECT d.next_attempt_at AS at FROM deliveries d
              WHERE d.endpoint_id = q.endpoint_id AND d.state = 'pending' ORDER BY d.next_attempt_at LIMIT 1) due
          WHERE e.max_per_minute IS NULL OR NOT e.enabled
       )
       SELECT (SELECT count(*)::int FROM (SELECT 1 FROM deliveries WHERE state = 'pending' LIMIT 10000) p) AS pending,
              greatest(0, coalesce(extract(epoch FROM now() - min(at) FILTER (WHERE held IS NOT TRUE)), 0))::float8
                AS "oldestSeconds",
              (count(*) FILTER (WHERE held AND at <= now()))::int AS "heldBack"
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
                next_attempt_at = CASE WHEN done.state = 'pending'
                                       THEN now() + make_interval(secs => CASE WHEN d.erased THEN 0 ELSE done.wait_seconds END) END,
                finished_at = CASE WHEN done.state <> 'pending' THEN now() END,
                lease_id = NULL
           FROM done
          WHERE d.id = done.id AND d.lease_id = done.lease_id
         RETURNING d.id, d.endpoint_id, d.attempts AS number, d.state, done.attempted_at, done.duration_ms, done.status,
                   done.failure, done.detail, CASE WHEN ${MAY_KEEP_ANSWER} THEN done.response_start END AS response_start,
                   CASE WHEN ${MAY_KEEP_ANSWER} THEN done.response_headers END AS response_headers, done.signature, done.url,
                   done.own_headers
       ), made AS (
         SELECT * FROM changed WHERE attempted_at IS NOT NULL
       ), attempt AS (
         INSERT INTO delivery_attempts (delivery_id, number, attempted_at, duration_ms, status, failure, detail,
                                        response_start, signature, response_headers, url, own_headers)
         SELECT id, number, attempted_at, duration_ms, status, failure, detail, response_start, signature,
                response_headers, url, own_headers FROM made
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
           FROM made m JOIN locked l ON l.id = m.endpoint_id GROUP BY m.endpoint_id
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

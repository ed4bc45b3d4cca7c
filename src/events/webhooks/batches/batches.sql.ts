import { DUE } from '../deliveries/due-deliveries.sql.js';
import { BATCH_TYPE } from './batch.js';

/** Contract §22: the body of a batch, unless its only event is larger. */
const BODY_MAX_BYTES = 256 * 1024;
/** What the body has around its events, less the comma that each is counted with and the last one has not. */
const AROUND_BYTES = `{"type":"${BATCH_TYPE}","data":[]}`.length - 1;
/** Endpoints that get one with a claim, of half of its requests ($2) at most: so a claim stays short, and the next one follows at once. */
const AT_ONCE = 'least(10, ceil($2 / 2.0))';

/** How long the first one waits at an endpoint (`q`). */
const WAIT = (q: string) => `make_interval(secs => ${q}.batch_wait_ms / 1000.0)`;

/**
 * Parts of the claim. `packed`: one batch for each of some endpoints (`allowed`), `ids` in the order of the feed, of what is due; of an ordered
 * one, of its `front`. One that is not full is there when its first delivery has waited long enough: nothing is kept of that anywhere.
 */
export const BATCHES = `oldest AS MATERIALIZED (
         SELECT q.endpoint_id, q.ordered, q.batch_max, w.since + ${WAIT('q')} AS ready_at
           FROM allowed q
           CROSS JOIN LATERAL (SELECT min(d.created_at) AS since FROM (${DUE('q.endpoint_id', '1', 'd.created_at')}) d) w
          WHERE q.batch_max IS NOT NULL AND q.starts > 0 AND w.since IS NOT NULL
       ), packed AS MATERIALIZED (
         SELECT o.endpoint_id, b.ids
           FROM (SELECT * FROM oldest ORDER BY random()) o
           CROSS JOIN LATERAL (
             SELECT array_agg(m.id ORDER BY m.nth) FILTER (WHERE m.fits) AS ids, bool_or(m.nth >= o.batch_max OR NOT m.fits) AS is_full
               FROM (SELECT m.id, row_number() OVER so_far AS nth,
                            row_number() OVER so_far = 1
                              OR sum(octet_length(v.payload) + 1) OVER so_far <= ${BODY_MAX_BYTES - AROUND_BYTES} AS fits
                       FROM ((SELECT d.id, d.event_id FROM (${DUE('o.endpoint_id', 'o.batch_max', 'd.id, d.event_id, d.next_attempt_at')}) d
                               WHERE NOT o.ordered ORDER BY d.next_attempt_at, d.id LIMIT o.batch_max)
                             UNION ALL
                             SELECT f.id, f.event_id FROM front f WHERE o.ordered AND f.endpoint_id = o.endpoint_id) m
                       JOIN events v ON v.id = m.event_id
                     WINDOW so_far AS (ORDER BY v.xid, v.id, m.id ROWS UNBOUNDED PRECEDING)) m
              WHERE m.nth <= o.batch_max) b
          WHERE cardinality(b.ids) > 0 AND (b.is_full OR o.ready_at <= now())
          LIMIT ${AT_ONCE}
       )`;

/** What is not taken of them: everything after the first one that another instance has, so that the order holds. Of the claim's `claimed`. */
export const CUT = `cut AS MATERIALIZED (
         SELECT rest.id
           FROM packed b
           CROSS JOIN LATERAL (SELECT min(m.nth)::int AS nth FROM unnest(b.ids) WITH ORDINALITY m (id, nth)
                                WHERE m.id NOT IN (SELECT id FROM claimed)) gone
           CROSS JOIN LATERAL unnest(b.ids[gone.nth:]) rest (id)
       )`;

/** The milliseconds until the next one is to be sent, as far as none is ready. */
export const NEXT_BATCH_MS =
  '(SELECT ceil(1000 * extract(epoch FROM min(o.ready_at) - now()))::int FROM oldest o WHERE o.ready_at > now())';

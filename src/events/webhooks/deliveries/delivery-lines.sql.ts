import { SETTLED_BELOW } from '#platform/database/queries/in-order-of-commits.js';
import { DUE } from './due-deliveries.sql.js';

/**
 * The lines of ordered endpoints (docs/decisions/0044-one-after-the-other.md): the deliveries of one user to one endpoint, in the order
 * of the feed of events.
 */

/** The line of a user, as a number: nobody gets from it back to the user. */
export const lineOf = (userId: string): string => `hashtextextended(${userId}, 0)`;

/** A place in it, of the number of a transaction: that of the event. */
export const placeOf = (xid: string): string => `${xid}::text::bigint`;

/** How many of the due deliveries of an ordered endpoint (`q`) a claim looks at. */
const LOOKED_AT = 'greatest(64, q.batch_max)';
/** More than it looks at. */
const AHEAD_MAX = 101;
/** As many are counted as missed at most. */
export const MISSED_MAX = 100;

/** Of a delivery (`l`) that is looked at: everything that is ahead of it in its line is looked at, too. */
const ALL_AHEAD_ARE_THERE = `(
                  SELECT count(*) FROM looked_at b
                   WHERE b.endpoint_id = l.endpoint_id AND b.line = l.line AND (b.place, b.event_id) < (l.place, l.event_id)
                ) = (
                  SELECT count(*) FROM (
                    SELECT 1 FROM deliveries p
                     WHERE p.endpoint_id = l.endpoint_id AND p.line = l.line AND p.state = 'pending'
                       AND (p.place, p.event_id) < (l.place, l.event_id) LIMIT ${AHEAD_MAX}) p)`;

/**
 * Parts of the claim. `front`: those of the due ones at the ordered ones among the endpoints (`allowed`) that nothing is ahead of in their
 * line, each with its turn. The others are put off (`moved`) until the one ahead has ended, which the trigger `deliveries_release_next`
 * says. It is locked while they are put off, so that it cannot end in between.
 *
 * Into a batch all come whose predecessors are there, too: what is ahead of them and due does not put them off.
 *
 * An event has its place for certain when every transaction below its own has ended. A delivery without a place, stored while
 * `ordered` was being switched on, gets it before anything of its endpoint is claimed.
 */
export const LINES = `looked_at AS MATERIALIZED (
         SELECT d.*, q.batch_max, ahead.id AS ahead
           FROM allowed q
           CROSS JOIN LATERAL (
             SELECT * FROM (${DUE('q.endpoint_id', LOOKED_AT, 'd.endpoint_id, d.id, d.event_id, d.line, d.place, d.next_attempt_at')}) d
              ORDER BY d.next_attempt_at LIMIT ${LOOKED_AT}) d
           LEFT JOIN LATERAL (
             SELECT p.id FROM deliveries p
              WHERE p.endpoint_id = d.endpoint_id AND p.line = d.line AND p.state = 'pending'
                AND (p.place, p.event_id) < (d.place, d.event_id)
              ORDER BY p.place, p.event_id LIMIT 1) ahead ON true
          WHERE q.ordered AND q.starts > 0
       ), placeless AS MATERIALIZED (
         -- An event without a user, such as a test, is in no line.
         SELECT l.id, l.endpoint_id, ${lineOf('v.user_id')} AS line, ${placeOf('v.xid')} AS place
           FROM looked_at l JOIN events v ON v.id = l.event_id WHERE l.line IS NULL AND v.user_id IS NOT NULL
       ), held AS MATERIALIZED (
         SELECT d.id FROM deliveries d
          WHERE d.id = ANY (ARRAY(SELECT l.ahead FROM looked_at l WHERE l.ahead IS NOT NULL
                                     AND (l.batch_max IS NULL OR l.ahead NOT IN (SELECT id FROM looked_at)))) AND d.state = 'pending'
            FOR SHARE SKIP LOCKED
       ), mover AS MATERIALIZED (
         SELECT d.id, now() + greatest(interval '1 minute', now() - d.created_at) AS again FROM deliveries d
          WHERE d.id = ANY (ARRAY(SELECT l.id FROM looked_at l JOIN held h ON h.id = l.ahead
                                  UNION ALL SELECT id FROM placeless))
            AND d.state = 'pending' AND d.next_attempt_at <= now()
            FOR UPDATE SKIP LOCKED
       ), moved AS (
         UPDATE deliveries d
            SET line = coalesce(d.line, p.line), place = coalesce(d.place, p.place), behind = p.id IS NULL, lease_id = NULL,
                -- Looked at again after as long as it has waited: should nobody have said that it is next.
                next_attempt_at = CASE WHEN p.id IS NULL THEN m.again ELSE d.next_attempt_at END,
                due_at = CASE WHEN p.id IS NULL THEN m.again ELSE d.due_at END
           FROM mover m LEFT JOIN placeless p ON p.id = m.id WHERE d.id = m.id
         RETURNING 1
       ), front AS MATERIALIZED (
         SELECT l.id, l.endpoint_id, l.event_id, row_number() OVER (PARTITION BY l.endpoint_id ORDER BY l.next_attempt_at) AS turn
           FROM looked_at l
          WHERE (l.ahead IS NULL OR (l.batch_max IS NOT NULL AND ${ALL_AHEAD_ARE_THERE}))
            AND (l.line IS NULL OR l.place < ${placeOf(SETTLED_BELOW)})
            AND l.endpoint_id NOT IN (SELECT endpoint_id FROM placeless)
       )`;

/** Of a delivery (`d`) in a line: how many directly before it the endpoint did not get, counted up to a limit. */
export const MISSED = `(
                   SELECT count(*)::int FROM (
                     SELECT 1
                       FROM (SELECT 1) AS one
                       LEFT JOIN LATERAL (
                         SELECT g.place, g.event_id FROM deliveries g
                          WHERE g.endpoint_id = d.endpoint_id AND g.line = d.line AND g.state = 'delivered'
                            AND (g.place, g.event_id) < (d.place, d.event_id)
                          ORDER BY g.place DESC, g.event_id DESC LIMIT 1) got ON true
                       JOIN deliveries m
                         ON m.endpoint_id = d.endpoint_id AND m.line = d.line AND m.state IN ('failed', 'cancelled')
                        AND (m.place, m.event_id) < (d.place, d.event_id)
                        AND (m.place, m.event_id) > (coalesce(got.place, 0), coalesce(got.event_id, ''))
                        -- One that failed when it was sent again had arrived before.
                        AND NOT EXISTS (SELECT 1 FROM delivery_attempts a
                                         WHERE a.delivery_id = m.id AND a.status BETWEEN 200 AND 299)
                      LIMIT ${MISSED_MAX}) missed)`;

/**
 * Whether the deliveries of events up to a time are in the sums (contract §26). Nothing that they are counted from may be purged
 * before.
 */
export const isRolledUp = (time: string): string => `${time} <= (SELECT r.up_to FROM disclosure_roll_up r)`;

/** Whether a delivery (`d`) has arrived, also if it was sent again later and failed then. */
export const HAS_ARRIVED = `(d.state = 'delivered' OR (d.attempts > 0 AND coalesce((
                  SELECT true FROM delivery_attempts a
                   WHERE a.delivery_id = d.id AND a.status BETWEEN 200 AND 299 LIMIT 1), false)))`;

/**
 * What counts as sent of an event (`v`; contract §26): the clients of the deliveries that have arrived. Always looked up by the event: whatever
 * PostgreSQL expects, reading all deliveries is worse.
 */
export const DELIVERIES_OF_EVENT = `(
             SELECT d.client_id FROM deliveries d WHERE d.event_id = v.id AND ${HAS_ARRIVED}
             OFFSET 0)`;

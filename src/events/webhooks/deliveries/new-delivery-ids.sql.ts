/**
 * The beginning of the ids of all deliveries that a statement makes, by the clock of the database, as a part of its WITH:
 * `new_delivery_id()` for each would take longer than all else that is done for it.
 */
export const DELIVERY_ID_TIME =
  'delivery_id_time AS MATERIALIZED (SELECT left(new_delivery_id(), 14) AS first)';

/** A new id of a delivery in such a statement, in the form of a ULID: 62 of its last 80 bits are random. */
export const NEW_DELIVERY_ID = `(SELECT first FROM delivery_id_time)
           || upper(right(replace(gen_random_uuid()::text, '-', ''), 16))`;

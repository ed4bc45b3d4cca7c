import { Pool } from 'undici';

export const ENDPOINTS = 20;
export const TYPE = 'vehicle.updated';
export const DATA = {
  id: '3f7d2f8e-5f0c-4f5b-8a55-0b9e7c1d2e33',
  state_of_charge_percent: 64,
  plugged_in: true,
};

// As many connections as are quickest.
const POSTS_AT_ONCE = 64;

/** Writes deliveries of one event to the endpoints in turn; none of them is due yet. */
export async function fillQueue(query, { endpointIds, clientId, eventId }, deliveries) {
  await query(
    `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, next_attempt_at)
     SELECT new_delivery_id(), $1, $2, ($3::text[])[n % $4 + 1], $5, now() + interval '1 hour' FROM generate_series(1, $6) n`,
    [eventId, TYPE, endpointIds, endpointIds.length, clientId, deliveries],
  );
  await query('VACUUM ANALYZE deliveries');
}

/** Makes all that waits due, and says so to the workers. */
export async function openQueue(query) {
  await query("UPDATE deliveries SET next_attempt_at = now() WHERE state = 'pending'");
  await query("SELECT pg_notify('webhook_deliveries', '')");
}

/** A bare loop that only posts so many bodies. */
export async function postAll({ port, payload, number }) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: POSTS_AT_ONCE, pipelining: 1 });
  let next = 0;
  const one = async () => {
    while (next++ < number) {
      const headers = { 'content-type': 'application/json' };
      const { statusCode, body } = await pool.request({ path: '/0', method: 'POST', headers, body: payload });
      await body.dump();
      if (statusCode !== 200) throw new Error(`answered with ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, one));
  await pool.close();
}

import pg from 'pg';
import { Pool } from 'undici';

export const ENDPOINTS = 20;
export const TYPE = 'vehicle.updated';
export const DATA = {
  id: '3f7d2f8e-5f0c-4f5b-8a55-0b9e7c1d2e33',
  state_of_charge_percent: 64,
  plugged_in: true,
};

// Measured: the fastest number of connections.
const POSTS_AT_ONCE = 64;

/**
 * Inserts due deliveries of one event to the endpoints in turn and wakes the workers, in one transaction, so that the workers see
 * the full queue at once.
 */
export async function fillQueue(databaseUrl, { endpointIds, clientId, eventId }, deliveries) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, next_attempt_at)
       SELECT new_delivery_id(), $1, $2, ($3::text[])[n % $4 + 1], $5, now() FROM generate_series(1, $6) n`,
      [eventId, TYPE, endpointIds, endpointIds.length, clientId, deliveries],
    );
    await client.query('ANALYZE deliveries');
    await client.query("SELECT pg_notify('webhook_deliveries', '')");
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

/** A bare loop that only posts the given number of bodies. */
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

import type { TestService } from '../support/test-service.js';

/** Requests of the client with every kind of answer. */
export async function seedRequests({ database }: TestService, client: { id: string }): Promise<void> {
  await database.query(
    `INSERT INTO client_requests (client_id, occurred_at, method, route, status, error, request_id, milliseconds, injected)
     SELECT $1, now() - make_interval(mins => n), 'GET', '/v2/users/:id', (ARRAY[200, 404, 503])[1 + n % 3],
            CASE WHEN n % 3 > 0 THEN 'rate-limit-exceeded' END, repeat('x', 128), n * 100, n % 7 = 0
       FROM generate_series(1, 30) n`,
    [client.id],
  );
}

import { newId } from '#platform/secrets/ids.js';
import type { TestDatabase } from './test-database.js';

interface Asked {
  clientId: string;
  by: string;
  uri: string;
  /** Why it was rejected, if it was. */
  rejected?: string;
}

/** A redirect URI that a partner asks to register; returns the id of the request. */
export async function insertRedirectUriRequest(
  database: Pick<TestDatabase, 'query'>,
  { clientId, by, uri, rejected }: Asked,
): Promise<string> {
  const id = newId('ruri');
  await database.query(
    `INSERT INTO redirect_uri_requests (id, client_id, action, uri, requested_by, state, reason, decided_at, decided_by_type)
     VALUES ($1, $2, 'add', $3, $4, CASE WHEN $5::text IS NULL THEN 'pending' ELSE 'rejected' END, $5::text,
             CASE WHEN $5::text IS NULL THEN NULL ELSE now() END, CASE WHEN $5::text IS NULL THEN NULL ELSE 'service' END)`,
    [id, clientId, uri, by, rejected ?? null],
  );
  return id;
}
